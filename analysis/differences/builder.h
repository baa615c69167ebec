#pragma once

// A list of differences in the making. Pure.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/differences/differences.h"

namespace reprise {

/// What grouping needs to know of a difference, beside itself.
struct DifferenceText {
  std::string added;    ///< to the body, with what it mentions
  std::string removed;  ///< from it
  std::string same;     ///< differences with the same text come and go together; empty: none
  bool of_one_element = false;
  /// Of the code that it has in A or in B, a script's or of an inline script or style: each way to
  /// name it (digests_of()).
  std::vector<std::string> digests = {};
  bool fetches = false;     ///< code, or elements that fetch something
  bool has_script = false;  ///< an inline one, of a document
  bool has_style = false;   ///< the same
};

struct DifferenceBuilder {
  Differences made;
  std::vector<DifferenceText> texts;  ///< one for each of made.all

  const RecordedExchange& a(std::size_t pair) const {
    return made.a.exchanges[made.alignment.pairs[pair].a];
  }
  const RecordedExchange& b(std::size_t pair) const {
    return made.b.exchanges[made.alignment.pairs[pair].b];
  }
  void add(PageDifference difference, DifferenceText text = {}) {
    made.all.push_back(std::move(difference));
    texts.push_back(std::move(text));
  }
};

/// Bodies, statuses and fields of all pairs. Pairs up requests that the changed elements of a
/// document show to be the same.
void compare_responses(DifferenceBuilder& builder, const PageBodies& bodies_of_a,
                       const PageBodies& bodies_of_b);
/// Requests that came and went, other URLs, initiators, order.
void compare_requests(DifferenceBuilder& builder);
/// Think times, certificates, addresses, protocols, look-ups.
void compare_hosts(DifferenceBuilder& builder);
/// Fills in groups.
void group_differences(DifferenceBuilder& builder);

}  // namespace reprise
