#pragma once

// Which span is inside which, and spans as calls. Pure.

#include <cstdint>
#include <vector>

#include "analysis/spans/span.h"

namespace reprise {

/// Places in SpanSet::spans. If the two halves of a call have the same id, as Zipkin's can, the
/// server's is inside the caller's.
struct SpanForest {
  std::vector<std::uint32_t> roots;                ///< those whose parent is not in the set
  std::vector<std::vector<std::uint32_t>> inside;  ///< of each span; by their start
  std::vector<CallLoss> losses;  ///< spans that are in no tree: repeated ones, circles of parents
};
SpanForest forest_of(const SpanSet& set);

/// Where spans go in a view.
struct SpanPlacing {
  std::uint32_t parent = kNoParent;  ///< the call that `root` is inside of
  std::int64_t zero_ns = 0;          ///< the view's start by the clock of the span's host
  std::int64_t from_us = 0;          ///< spans are cut to this part of the view
  std::int64_t to_us = CallTree::kWindowUsMax;
};
/// Adds `root` and all that is inside it to the calls of `tree`. Returns how many had to be cut by
/// more than kGrainNs.
std::size_t add_span_calls(CallTree& tree, const SpanSet& set, const SpanForest& forest,
                           std::uint32_t root, const SpanPlacing& placing);

/// Traces without a browser: a tree for each root, from its start to its end. The page is the
/// root's endpoint; the tags "service", "endpoint" and "place" are the root's. Normalized. What is
/// in no tree is added to `losses`.
std::vector<CallTree> trees_of(const SpanSet& set, std::vector<CallLoss>& losses);

}  // namespace reprise
