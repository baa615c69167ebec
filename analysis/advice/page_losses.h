#pragma once

// What a change takes from a page: a page that does less is faster for that reason alone. Pure.

#include <set>
#include <string>
#include <vector>

#include "pageload/results/load_result.h"

namespace reprise {

struct PageLosses {
  /// "GET https://a.test/x", without queries: made before the load event in every load as recorded,
  /// and in no changed one.
  std::vector<std::string> requests;
  /// Of the console, in every changed load, and in none as recorded.
  std::vector<std::string> errors;

  bool empty() const { return requests.empty() && errors.empty(); }
  /// "2 requests are lost, such as GET https://a.test/x; 1 new error: ...".
  std::string text() const;
};

/// Of all loads that did not fail: warming up and disturbances change times alone. Nothing is lost
/// if either side has none. `meant`: the URLs of resources that the change is about, such as a
/// style sheet that is in its document now.
PageLosses page_losses(const LoadResult& recorded, const LoadResult& changed,
                       const std::set<std::string>& meant);

}  // namespace reprise
