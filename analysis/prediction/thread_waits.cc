#include "analysis/prediction/thread_waits.h"

#include <algorithm>

#include "analysis/dependency/observed_gaps.h"

namespace reprise {
namespace {

/// Work that begins later after something was not caused by it.
constexpr std::int64_t kCausedUs = 50'000;
/// A shorter wait is not worth the doubt.
constexpr std::int64_t kWaitUsMin = 5'000;

class WaitFinder {
 public:
  WaitFinder(const DependencyGraph& graph, const PlacedLoad& placed, const MainThread& thread)
      : graph_(graph), placed_(placed), thread_(thread) {}

  std::optional<ThreadWait> wait_of(std::uint32_t node) const {
    if (!placed_[node] || !waits_for_thread(node)) return std::nullopt;
    auto const start_us = placed_[node]->start_us;
    auto const join_us = response_before(node);
    if (!join_us || start_us - *join_us < kWaitUsMin) return std::nullopt;
    auto const busy_us = thread_.busy_since(*join_us, start_us);
    if (!busy_us || *busy_us >= *join_us) return std::nullopt;
    auto wait = cause_of_work(node, *busy_us);
    if (!wait) return std::nullopt;
    auto const from_us = placed_[wait->from]->at(wait->after);
    wait->length_us = static_cast<double>(start_us - from_us);
    wait->processor_us = thread_.work_between(from_us, start_us).processor_us;
    auto const other_us = thread_.work_between(*join_us, start_us).busy_us;
    wait->gap_us = std::max(0.0, static_cast<double>(start_us - *join_us) - other_us);
    return wait;
  }

 private:
  bool waits_for_thread(std::uint32_t node) const {
    DependencyNode const& each = graph_.nodes[node];
    return each.kind == DependencyNodeKind::kTask ||
           (each.kind == DependencyNodeKind::kMilestone &&
            each.name == kMilestoneNames[static_cast<int>(Milestone::kLoadEvent)]);
  }

  /// When the response came that the node waited for last; nothing if it waited for work.
  std::optional<std::int64_t> response_before(std::uint32_t node) const {
    auto const [begin, end] = graph_.edges_to(node);
    auto const join_us = join_in(placed_, begin, end);
    if (!join_us) return std::nullopt;
    bool const is_response = std::any_of(begin, end, [&](const DependencyEdge& edge) {
      return placed_[edge.from] && placed_[edge.from]->at(edge.after) == *join_us &&
             graph_.nodes[edge.from].kind == DependencyNodeKind::kRequest;
    });
    return is_response ? join_us : std::nullopt;
  }

  /// The last moment before the thread began to work that can be its cause.
  std::optional<ThreadWait> cause_of_work(std::uint32_t node, std::int64_t busy_us) const {
    std::optional<ThreadWait> cause;
    auto latest_us = busy_us - kCausedUs;
    for (std::uint32_t from = 0; from < placed_.size(); ++from) {
      if (from == node || !placed_[from]) continue;
      for (auto const after : moments_of(graph_.nodes[from])) {
        auto const moment_us = placed_[from]->at(after);
        if (!placed_[from]->has(after) || moment_us < latest_us ||
            moment_us > busy_us + kRoundingUs)
          continue;
        latest_us = moment_us;
        cause = ThreadWait{.from = from, .after = after};
      }
    }
    return cause;
  }

  static std::vector<DependencyAfter> moments_of(const DependencyNode& node) {
    if (node.kind == DependencyNodeKind::kTask) return {DependencyAfter::kEnd};
    if (node.type == "Document") return {DependencyAfter::kFirstByte, DependencyAfter::kEnd};
    if (node.type == "Stylesheet") return {DependencyAfter::kEnd};
    return {};
  }

  const DependencyGraph& graph_;
  const PlacedLoad& placed_;
  const MainThread& thread_;
};

}  // namespace

void find_thread_waits(const DependencyGraph& graph, const PlacedLoad& placed,
                       const MainThread& thread, std::vector<NodeParts>& nodes) {
  if (!thread.is_known()) return;
  WaitFinder const finder(graph, placed, thread);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) nodes[i].thread = finder.wait_of(i);
}

}  // namespace reprise
