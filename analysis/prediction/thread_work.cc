#include "analysis/prediction/thread_work.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/dependency/observed_gaps.h"

namespace reprise {
namespace {

/// Work that begins later after something was not caused by it.
constexpr std::int64_t kCausedUs = 50'000;
/// A shorter wait is not worth the doubt.
constexpr std::int64_t kWaitUsMin = 5'000;
/// A task that began more than this before a run did other work before it.
constexpr std::int64_t kTaskOfRunUs = 1'000;
/// Shorter pieces of work are not worth an event.
constexpr std::int64_t kWorkUsMin = 200;
/// Of the first so many pieces, each is an event of each changed load.
constexpr std::size_t kPiecesMax = 10'000;

/// A paint goes before other tasks, and a request needs no thread.
bool takes_turns(const DependencyNode& node) {
  return node.kind == DependencyNodeKind::kTask || node.is(Milestone::kLoadEvent);
}

/// What of a node makes the thread work.
std::vector<DependencyAfter> moments_of(const DependencyNode& node) {
  if (node.kind == DependencyNodeKind::kTask) return {DependencyAfter::kEnd};
  if (node.type == "Document") return {DependencyAfter::kFirstByte, DependencyAfter::kEnd};
  if (node.type == "Stylesheet") return {DependencyAfter::kEnd};
  return {};
}

class WorkFinder {
 public:
  WorkFinder(const DependencyGraph& graph, const PlacedLoad& placed, const MainThread& thread)
      : graph_(graph), placed_(placed), thread_(thread) {
    for (std::uint32_t node = 0; node < placed.size(); ++node) {
      if (!placed[node]) continue;
      for (auto const after : moments_of(graph.nodes[node])) {
        if (placed[node]->has(after)) causes_.push_back({placed[node]->at(after), node, after});
      }
      if (graph.nodes[node].kind == DependencyNodeKind::kTask) {
        runs_.push_back({placed[node]->start_us, placed[node]->end_us});
      }
    }
    parsed_us_ = thread.parsed_us(load_event_us());
    std::ranges::sort(causes_, {}, [](const Cause& each) {
      return std::tuple(each.at_us, each.node, each.after);
    });
    std::ranges::sort(runs_, {},
                      [](const Run& each) { return std::tuple(each.start_us, each.end_us); });
  }

  std::vector<ThreadWork> work() const {
    std::vector<ThreadWork> found;
    auto run = runs_.begin();
    for (MainThread::Interval const& worked : thread_.work()) {
      auto from_us = worked.start_us;
      while (run != runs_.end() && run->end_us <= from_us) ++run;
      for (; run != runs_.end() && run->start_us < worked.end_us; ++run) {
        add(found, worked, from_us, run->start_us);
        from_us = std::max(from_us, run->end_us);
        if (from_us > worked.end_us) break;
      }
      add(found, worked, from_us, worked.end_us);
    }
    return found;
  }

  /// What a node waited for that was ready while the thread had other work. A node that followed a
  /// script's run waited for the work behind that, too.
  std::optional<ThreadWait> wait_of(std::uint32_t node) const {
    auto const start_us = placed_[node]->start_us;
    auto const [begin, end] = graph_.edges_to(node);
    auto const join_us = join_in(placed_, begin, end);
    if (!join_us || start_us - *join_us < kWaitUsMin) return std::nullopt;
    Cause cause = {.at_us = *join_us};
    if (comes_last(node, *join_us, DependencyNodeKind::kRequest) != nullptr) {
      auto const busy_us = thread_.busy_since(*join_us, start_us);
      if (!busy_us || *busy_us >= *join_us) return std::nullopt;
      auto const* const known = cause_of(*busy_us);
      if (known == nullptr || known->at_us < *busy_us - kCausedUs) return std::nullopt;
      cause = *known;
    } else if (auto const* run = comes_last(node, *join_us, DependencyNodeKind::kTask)) {
      cause.node = run->from;
      cause.after = run->after;
    } else {
      return std::nullopt;
    }
    auto const worked_us = thread_.work_between(*join_us, start_us).busy_us;
    return ThreadWait{
        .from = cause.node,
        .after = cause.after,
        .length_us = static_cast<double>(start_us - cause.at_us),
        .processor_us = thread_.work_between(cause.at_us, start_us).processor_us,
        .after_parser_us =
            static_cast<double>(start_us - std::clamp(parsed_us_, cause.at_us, start_us)),
        .gap_us = std::max(0.0, static_cast<double>(start_us - *join_us) - worked_us)};
  }

  /// The last layout before the paint could come. What the paint waited for came later and hid it,
  /// but nothing is painted without it (HTML 8.1.7.3, "update the rendering").
  std::optional<ThreadWait> layout_of(std::uint32_t paint) const {
    auto const paint_us = placed_[paint]->start_us;
    auto const [begin, end] = graph_.edges_to(paint);
    auto const join_us = join_in(placed_, begin, end);
    if (!join_us) return std::nullopt;
    auto task = std::ranges::upper_bound(thread_.tasks(), *join_us, {}, &MainThread::Task::end_us);
    while (task != thread_.tasks().begin()) {
      --task;
      if (!task->lays_out) continue;
      auto const busy_us = thread_.busy_since(task->start_us, task->end_us);
      auto const* const cause = cause_of(task->start_us);
      bool const is_known = busy_us && cause != nullptr && cause->at_us >= *busy_us - kCausedUs;
      if (!is_known || has_run(cause->at_us, task->end_us)) return std::nullopt;
      auto const worked_us = thread_.work_between(*join_us, paint_us).busy_us;
      auto const idle_us = std::max(0.0, static_cast<double>(paint_us - *join_us) - worked_us);
      return ThreadWait{
          .from = cause->node,
          .after = cause->after,
          .length_us = static_cast<double>(task->end_us - cause->at_us) + idle_us,
          .processor_us = thread_.work_between(cause->at_us, task->end_us).processor_us};
    }
    return std::nullopt;
  }

 private:
  struct Cause {
    std::int64_t at_us = 0;
    std::uint32_t node = 0;
    DependencyAfter after = DependencyAfter::kEnd;
  };
  struct Run {
    std::int64_t start_us = 0, end_us = 0;
  };

  /// The latest time there is if it is not known.
  std::int64_t load_event_us() const {
    for (std::uint32_t node = 0; node < placed_.size(); ++node) {
      if (placed_[node] && graph_.nodes[node].is(Milestone::kLoadEvent)) {
        return placed_[node]->start_us;
      }
    }
    return std::numeric_limits<std::int64_t>::max();
  }

  /// The last one before work began; null if nothing is known to have begun it.
  const Cause* cause_of(std::int64_t work_us) const {
    auto const next = std::ranges::upper_bound(causes_, work_us + kRoundingUs, {}, &Cause::at_us);
    return next == causes_.begin() ? nullptr : &*std::prev(next);
  }

  /// Whether a node began to run in that time.
  bool has_run(std::int64_t from_us, std::int64_t until_us) const {
    auto const run = std::ranges::upper_bound(runs_, from_us, {}, &Run::start_us);
    return run != runs_.end() && run->start_us <= until_us;
  }

  /// Whether what begins then belongs to a task that had begun before the run of a node that it
  /// follows.
  bool is_of_earlier_task(const Cause& cause, std::int64_t from_us) const {
    if (graph_.nodes[cause.node].kind != DependencyNodeKind::kTask) return false;
    auto const run_us = placed_[cause.node]->start_us;
    auto const* const task = thread_.task_at(run_us);
    return task != nullptr && task->start_us < run_us - kTaskOfRunUs && from_us < task->end_us;
  }

  void add(std::vector<ThreadWork>& found, const MainThread::Interval& worked, std::int64_t from_us,
           std::int64_t to_us) const {
    if (to_us - from_us < kWorkUsMin || found.size() == kPiecesMax) return;
    auto const* const cause = cause_of(from_us);
    if (cause == nullptr) return;
    auto const length_us = static_cast<double>(to_us - from_us);
    auto const worked_us = static_cast<double>(worked.end_us - worked.start_us);
    found.push_back({.from = cause->node,
                     .after = cause->after,
                     .gap_us = std::max(0.0, static_cast<double>(from_us - cause->at_us)),
                     .busy_us = thread_.work_between(cause->at_us, from_us).processor_us,
                     .length_us = length_us,
                     .processor_us = length_us * worked.processor_us / worked_us,
                     .is_of_earlier_task = is_of_earlier_task(*cause, from_us),
                     .is_after_parser = from_us >= parsed_us_});
  }

  /// What of this kind `node` waited for until `join_us`; null if nothing.
  const DependencyEdge* comes_last(std::uint32_t node, std::int64_t join_us,
                                   DependencyNodeKind kind) const {
    auto const [begin, end] = graph_.edges_to(node);
    auto const* const last = std::find_if(begin, end, [&](const DependencyEdge& edge) {
      return placed_[edge.from] && placed_[edge.from]->at(edge.after) == join_us &&
             graph_.nodes[edge.from].kind == kind;
    });
    return last == end ? nullptr : last;
  }

  const DependencyGraph& graph_;
  const PlacedLoad& placed_;
  const MainThread& thread_;
  std::vector<Cause> causes_;   ///< by time
  std::vector<Run> runs_;       ///< of nodes, by time
  std::int64_t parsed_us_ = 0;  ///< when the last document was parsed
};

}  // namespace

void find_thread_work(const DependencyGraph& graph, const PlacedLoad& placed,
                      const MainThread& thread, LoadParts& parts) {
  if (!thread.is_known()) return;
  WorkFinder const finder(graph, placed, thread);
  parts.work = finder.work();
  for (std::uint32_t node = 0; node < parts.nodes.size(); ++node) {
    if (placed[node] && graph.nodes[node].is(Milestone::kFirstContentfulPaint)) {
      parts.nodes[node].thread = finder.layout_of(node);
    }
    if (!placed[node] || !takes_turns(graph.nodes[node])) continue;
    parts.nodes[node].takes_turns = true;
    parts.nodes[node].thread = finder.wait_of(node);
  }
}

}  // namespace reprise
