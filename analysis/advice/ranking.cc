#include "analysis/advice/ranking.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace reprise {

std::vector<std::size_t> by_promise(std::span<const PromisedChange> changes) {
  std::vector<std::size_t> order(changes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto const promise = [&](std::size_t i) {
    auto const& each = changes[i];
    return std::tuple(each.saves_nothing, each.saves_nothing ? -each.share_ms : -each.saving_ms, i);
  };
  std::ranges::sort(order, {}, promise);
  std::set<std::string> groups;
  std::set<std::size_t> not_best;
  for (std::size_t const i : order) {
    auto const& group = changes[i].group;
    if (!group.empty() && !groups.insert(group).second) not_best.insert(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::tuple(changes[i].saves_nothing, not_best.contains(i), promise(i));
  });
  return order;
}

AdvicePlace place_of(std::size_t rank, std::size_t could_help, const AdvicePlaces& places) {
  if (rank >= could_help) {
    auto const filled = could_help == 0 ? places.paid : places.spare;
    return rank < filled ? AdvicePlace::kMeasured : AdvicePlace::kSavesNothing;
  }
  if (rank < places.paid) return AdvicePlace::kMeasured;
  return rank < places.asked ? AdvicePlace::kNotPaid : AdvicePlace::kNotAsked;
}

}  // namespace reprise
