#include "analysis/allotment/capped_allotment.h"

#include <algorithm>

namespace reprise {

std::expected<std::vector<std::size_t>, std::string> allot_capped(
    std::span<const AllotmentArm> arms, double budget, std::size_t least, std::size_t most) {
  most = std::max(most, least);
  std::vector<std::size_t> measurements(arms.size(), 0);  // 0: not at the limit
  for (;;) {
    std::vector<AllotmentArm> open;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      if (measurements[i] > 0) continue;
      open.push_back(arms[i]);
      places.push_back(i);
    }
    if (open.empty() && !arms.empty()) return measurements;
    auto const allotted = allot(open, budget - cost_of(arms, measurements), least);
    if (!allotted) return allotted;
    bool const fits = std::ranges::max(*allotted) <= most;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (fits) measurements[places[i]] = (*allotted)[i];
      if ((*allotted)[i] > most) measurements[places[i]] = most;
    }
    if (fits) return measurements;
  }
}

}  // namespace reprise
