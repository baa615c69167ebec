#include "analysis/advice/ranking.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace reprise {

std::vector<std::size_t> by_promise(std::span<const PromisedChange> changes) {
  std::vector<std::size_t> order(changes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::tuple(-changes[i].saving_ms, i); });
  std::set<std::string> groups;
  std::vector<std::size_t> best;
  std::vector<std::size_t> others;
  for (std::size_t const i : order) {
    auto const& group = changes[i].group;
    bool const is_best = group.empty() || groups.insert(group).second;
    (is_best ? best : others).push_back(i);
  }
  best.insert(best.end(), others.begin(), others.end());
  return best;
}

}  // namespace reprise
