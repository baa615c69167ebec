#pragma once

// What the loads of B request that those of A do not, and when. Pure.

#include <cstddef>
#include <set>
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
  std::string url;  ///< in B: "GET https://..."
  MovedTimes a, b;
};

struct RequestChanges {
  /// In more than half of B's loads and at most half of A's: "GET https://...".
  std::vector<std::string> came;
  std::vector<std::string> went;    ///< the reverse: usual in A alone
  std::vector<MovedRequest> moved;  ///< sorted by how far they moved, largest first
  std::vector<std::string> missed;  ///< came, and the archive has no answer
  /// The parameters whose values differ between requests that count as the same.
  std::set<std::string> volatile_names;
};

/// A request moved if it starts or ends elsewhere by at least this.
inline constexpr double kMovedLeastMs = 10;

/// Of every page in both: loads that were not skipped, did load, and were no warm-up. The n-th
/// request of one method and URL is compared with the n-th; then, of those that are usual on one
/// side alone, those that differ only in volatile values (archive/match/steady_request.h), one with
/// one. Without the browser's own requests (archive/match/browser_paths.h), such as a favicon: they
/// come by chance.
RequestChanges request_changes(const LoadResult& a, const LoadResult& b);

}  // namespace reprise
