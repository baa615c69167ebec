#include "pageload/results/load_result.h"

namespace reprise {

std::set<std::string> LoadResult::missed_requests() const {
  std::set<std::string> missed;
  for (const Load& load : loads) {
    auto const* const replay = replay_of(load);
    if (replay == nullptr) continue;
    for (auto const& miss : replay->distinct_misses) missed.insert(miss.method + " " + miss.url);
  }
  return missed;
}

}  // namespace reprise
