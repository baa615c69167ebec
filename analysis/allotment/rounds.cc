#include "analysis/allotment/rounds.h"

#include <algorithm>
#include <map>
#include <random>

namespace reprise {

std::vector<MeasuringRound> rounds_of(std::span<const std::size_t> measurements,
                                      std::uint64_t seed) {
  std::size_t rounds = 0;
  for (auto const count : measurements) {
    if (count > 0) rounds = rounds == 0 ? count : std::min(rounds, count);
  }
  std::mt19937_64 random(seed);
  std::vector<MeasuringRound> order(rounds);
  for (std::size_t arm = 0; arm < measurements.size() && rounds > 0; ++arm) {
    // Each arm has its own phase, or all would have their extra measurements in the same rounds.
    auto const phase = random() % rounds;
    for (std::size_t round = 0; round < rounds; ++round) {
      auto const before = (round * measurements[arm] + phase) / rounds;
      auto const after = ((round + 1) * measurements[arm] + phase) / rounds;
      order[round].insert(order[round].end(), after - before, arm);
    }
  }
  for (MeasuringRound& round : order) {
    for (auto left = round.size(); left > 1; --left) {
      std::swap(round[left - 1], round[random() % left]);
    }
  }
  return order;
}

std::vector<MeasuringStep> steps_of(const MeasuringRound& round, std::size_t first_run) {
  std::map<std::size_t, std::size_t> times;
  std::vector<MeasuringStep> steps;
  for (auto const arm : round) steps.push_back({.arm = arm, .run = first_run + times[arm]++});
  return steps;
}

}  // namespace reprise
