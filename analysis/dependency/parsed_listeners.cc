#include "analysis/dependency/parsed_listeners.h"

#include <algorithm>
#include <cstdint>

#include "analysis/dependency/observed_gaps.h"

namespace reprise {
namespace {

/// From one listener's end to the next one's start, or to the end of the event. Shorter listeners
/// than those that are nodes run in between.
constexpr std::int64_t kPauseUsMax = 3'000;

/// The tasks that ran up to the end of the event, in one load.
std::vector<std::uint32_t> listeners_in(const std::vector<DependencyNode>& nodes,
                                        const PlacedLoad& places, std::int64_t parsed_us) {
  std::vector<std::uint32_t> tasks;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    bool const is_task = nodes[i].kind == DependencyNodeKind::kTask && places[i];
    if (is_task && places[i]->end_us <= parsed_us + kRoundingUs) tasks.push_back(i);
  }
  std::ranges::sort(tasks, std::ranges::greater(), [&](auto task) { return places[task]->end_us; });
  std::vector<std::uint32_t> listeners;
  auto next_us = parsed_us;
  for (auto const task : tasks) {
    bool const is_callback = !nodes[task].function.empty();
    if (!is_callback || next_us - places[task]->end_us > kPauseUsMax) break;
    listeners.push_back(task);
    next_us = places[task]->start_us;
  }
  return listeners;
}

}  // namespace

std::vector<bool> find_parsed_listeners(const std::vector<DependencyNode>& nodes,
                                        std::span<const ObservedPage> loads,
                                        std::span<const PlacedLoad> places) {
  std::vector<std::size_t> times(nodes.size());
  for (std::size_t load = 0; load < loads.size(); ++load) {
    if (!loads[load].parsed_us) continue;
    for (auto const task : listeners_in(nodes, places[load], *loads[load].parsed_us)) ++times[task];
  }
  std::vector<bool> are(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    are[i] = times[i] > 0 && times[i] == nodes[i].loads;
  return are;
}

}  // namespace reprise
