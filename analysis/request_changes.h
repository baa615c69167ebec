#pragma once

// What the loads of B request that those of A do not, and when. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "pageload/results/load_result.h"

namespace reprise {

/// Medians over the loads that count, in ms since the start of navigation.
struct MovedTimes {
  double start_ms = 0;
  double end_ms = 0;
};

struct MovedRequest {
  std::string url;
  MovedTimes a, b;
};

struct RequestChanges {
  std::vector<std::string> came;  ///< in most loads of B, in none or few of A; "GET https://..."
  std::vector<std::string> went;
  std::vector<MovedRequest> moved;  ///< the ones that end furthest from where they did come first
  std::vector<std::string> missed;  ///< came, and the archive has no answer
};

/// A request moved if it starts or ends elsewhere by at least this.
inline constexpr double kMovedLeastMs = 10;

/// Of every page in both: loads that were not skipped, did load, and were no warm-up. The n-th
/// request of one method and URL is compared with the n-th.
RequestChanges request_changes(const LoadResult& a, const LoadResult& b);

}  // namespace reprise
