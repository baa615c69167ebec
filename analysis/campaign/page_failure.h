#pragma once

// Pages of which every load failed, and why. Pure.

#include <boost/json/object.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pageload/results/load_result.h"

namespace reprise {

struct PageFailure {
  std::size_t page = 0;   ///< index into Plan::pages
  std::string name = {};  ///< of that; empty in the header of a shard
  std::string side = {};  ///< empty: on all sides
  std::string url = {};   ///< empty: all pages of the archive
  std::size_t loads = 0;  ///< that failed; pages of the tasks record and advise
  std::string why = {};   ///< of the first one
  /// Whether nothing of the archive was measured, such as when it is damaged.
  bool is_of_all() const { return side.empty() && url.empty(); }
};

/// The pages of a result of which every load failed, in the order of first appearance. Loads that
/// warm up or were skipped do not count.
std::vector<PageFailure> failures_of(const LoadResult& result, std::size_t page,
                                     std::string_view side);

/// "side", "url", "loads", "why".
boost::json::object failure_json(const PageFailure& failure);
/// "page p1 (https://a.test/, side B) failed in every load: net::ERR_FAILED".
std::string failure_text(const PageFailure& failure);
/// The first lines, and how many more there are. Empty if there are no lines.
std::string failures_text(std::span<const std::string> lines);

}  // namespace reprise
