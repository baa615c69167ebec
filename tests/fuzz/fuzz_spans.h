#pragma once

// What the targets of span files share.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "analysis/spans/join.h"
#include "analysis/spans/span_forest.h"

namespace reprise {

inline void check_tree(const CallTree& tree) {
  if (tree.window_us < 0 || tree.window_us > CallTree::kWindowUsMax) std::abort();
  for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
    const Call& call = tree.calls[i];
    if (call.start_us < 0 || call.end_us < call.start_us) std::abort();
    if (call.parent != kNoParent && call.parent >= i) std::abort();
  }
}

/// As many calls as spans, in trees that keep their promises; the same under a request.
inline void check_spans(const SpanSet& set) {
  std::vector<CallLoss> losses;
  auto const trees = trees_of(set, losses);
  std::size_t calls = 0;
  for (const CallTree& tree : trees) {
    check_tree(tree);
    calls += tree.calls.size();
  }
  for (const CallLoss& loss : losses) calls += loss.count;
  if (calls != set.spans.size()) std::abort();

  CallTree view{.started_unix_ms = 1.795e12, .window_us = 1'000'000};
  view.calls = {{.kind = CallKind::kRequest, .name = "https://shop.test/cart", .end_us = 900'000},
                {.kind = CallKind::kPhase, .name = "wait", .end_us = 500'000, .parent = 0}};
  view.calls[0].set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  CallTree* const views[] = {&view};
  join_spans(views, set);
  check_tree(view);
}

}  // namespace reprise
