#include "analysis/calls/interval.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace reprise {
namespace {

/// A task that is cut had the processor for a part of its time that is as long.
void cut_processor_time(Call& copy, const Call& whole) {
  auto const length_us = whole.end_us - whole.start_us;
  auto const left_us = copy.end_us - copy.start_us;
  if (left_us == length_us || whole.attribute("processor_us").empty()) return;
  auto const share = static_cast<double>(left_us) / static_cast<double>(length_us);
  copy.set("processor_us", std::to_string(std::llround(processor_us(whole) * share)));
}

}  // namespace

CallTree within(const CallTree& tree, std::int64_t from_us, std::int64_t to_us) {
  CallTree part{.page = tree.page,
                .started_unix_ms = tree.started_unix_ms,
                .window_us = std::max<std::int64_t>(0, std::min(to_us, tree.window_us) - from_us),
                .tags = tree.tags,
                .calls = {},
                .losses = tree.losses};
  if (part.started_unix_ms) *part.started_unix_ms += static_cast<double>(from_us) / 1000;
  std::vector<std::uint32_t> place(tree.calls.size(), kNoParent);
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    if (call.end_us < from_us || call.start_us >= to_us) continue;
    auto copy = call;
    copy.start_us = std::max(call.start_us, from_us) - from_us;
    copy.end_us = std::min(call.end_us, to_us) - from_us;
    cut_processor_time(copy, call);
    if (call.parent != kNoParent) copy.parent = place[call.parent];
    place[i] = static_cast<std::uint32_t>(part.calls.size());
    part.calls.push_back(std::move(copy));
  }
  return part;
}

}  // namespace reprise
