#include "tools/advise/two_looks.h"

#include <algorithm>
#include <numeric>

#include "analysis/stopping.h"

namespace reprise {
namespace {

/// Of the comparison of two sides, in loads.
double information_of(const LoadsBeside& loads) {
  auto const recorded = static_cast<double>(loads.recorded);
  auto const changed = static_cast<double>(loads.changed);
  return recorded + changed == 0 ? 0 : recorded * changed / (recorded + changed);
}

}  // namespace

double first_look_level(double alpha, double share) {
  return share >= 1 ? alpha : look_levels(std::vector{share}, alpha).front();
}

double last_look_level(double alpha, double share, const LoadsBeside& first,
                       const LoadsBeside& last) {
  auto const before = information_of(first);
  auto const all = information_of(last);
  // Where there was nothing to look at, the first look could show nothing.
  bool const is_new = before > 0 && all > before;
  return last_level(first_look_level(alpha, share), is_new ? before / all : 1, alpha);
}

std::vector<std::size_t> further_loads(std::span<const std::size_t> made, double paid,
                                       std::size_t most) {
  std::vector<std::size_t> none(made.size(), 0);
  auto const all = std::accumulate(made.begin(), made.end(), std::size_t{0});
  if (all == 0) return none;
  auto times = paid / static_cast<double>(all);
  for (auto const loads : made) {
    if (loads == 0) continue;
    times = std::min(times, static_cast<double>(most) / static_cast<double>(loads) - 1);
  }
  auto more = none;
  for (std::size_t side = 0; side < made.size(); ++side) {
    if (made[side] == 0) continue;
    auto const loads = times * static_cast<double>(made[side]);
    if (!(loads >= 1)) return none;
    more[side] = static_cast<std::size_t>(loads);
  }
  return more;
}

}  // namespace reprise
