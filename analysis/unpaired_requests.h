#pragma once

// Which requests one side makes and the other does not, apart from the values that a page makes up
// for each request. Pure.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// Requests without a partner, "GET https://...", in order.
struct UnpairedRequests {
  std::vector<std::string_view> a, b;
  /// The parameters whose values differ within pairs.
  std::set<std::string> volatile_names;
};

/// Pairs equal requests; then, of those that are left, those that differ only in values of
/// parameters that look random or like a time, on both sides (archive/match/MATCHING.md), one with
/// one. Borrows the texts.
UnpairedRequests unpaired_requests(const std::set<std::string_view>& a,
                                   const std::set<std::string_view>& b);

}  // namespace reprise
