#include "analysis/prediction/changed_load.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/prediction/changed_node.h"
#include "analysis/prediction/connection_pools.h"
#include "analysis/prediction/held_requests.h"
#include "analysis/prediction/load_connections.h"
#include "analysis/prediction/load_events.h"
#include "analysis/prediction/load_plan.h"
#include "analysis/prediction/tcp_link.h"

namespace reprise {
namespace {

/// How long Chromium's first paint waits at most for preloaded fonts ("max-fcp-delay"); here after
/// all else that the paint waits for.
constexpr double kFontsUs = 100'000;

class ChangedLoad {
 public:
  ChangedLoad(const DependencyGraph& graph, const LoadParts& parts,
              std::span<const NodeChange> changes, double link_factor)
      : graph_(graph),
        parts_(parts),
        changes_(changes),
        link_(changed_rate(parts, link_factor), all_bytes(parts, changes), parts.ahead),
        plan_(load_plan(graph, parts, changes)),
        join_us_(graph.nodes.size()),
        happened_(graph.nodes.size()),
        early_(graph.nodes.size()),
        head_(plan_.scripts_of_head),
        pools_(parts, changes, plan_.document, link_, events_) {}

  MilestoneTimes run() && {
    for (std::uint32_t node = 0; node < plan_.groups.size(); ++node) {
      if (parts(node).present && plan_.groups[node].empty()) start_after_gap(node);
    }
    for (;;) {
      auto const next = events_.next();
      now_us_ = std::min(next, link_.next());
      if (now_us_ == TcpLink::kNever) break;
      for (auto const& arrival : link_.advance(now_us_)) {
        auto const node = static_cast<std::uint32_t>(arrival.transfer);
        if (arrival.is_first) first_byte(node);
        if (arrival.is_last) add(deliver(node), Event::kEnd, node);
      }
      if (next <= now_us_) handle(events_.take());
    }
    auto const& first = reached_[static_cast<std::size_t>(Milestone::kFirstContentfulPaint)];
    auto& largest = reached_[static_cast<std::size_t>(Milestone::kLargestContentfulPaint)];
    if (first && largest) largest = std::max(*largest, *first);  // there is no earlier paint
    return reached_;
  }

 private:
  using Event = LoadEvent;

  const NodeParts& parts(std::uint32_t node) const { return parts_.nodes[node]; }
  const NodeChange& change(std::uint32_t node) const { return changes_[node]; }
  ChangedNode changed(std::uint32_t node) const { return {parts(node), change(node)}; }
  ChangedWork work(std::uint32_t i) const { return {parts_.work[i], change(parts_.work[i].from)}; }

  void add(double at_us, Event::Kind kind, std::uint32_t node) { events_.add(at_us, kind, node); }

  void start_after_gap(std::uint32_t node) {
    bool const is_first_paint = graph_.nodes[node].is(Milestone::kFirstContentfulPaint);
    if (is_first_paint && fonts_left_ > 0 && !fonts_are_over_) return wait_for_fonts(node);
    if (node == plan_.load_event) load_event_is_due_ = true;
    auto const& wait = parts(node).thread;
    bool const is_at_once = plan_.passes_at_once(node) || (plan_.absent[node] && !wait);
    if (is_at_once) return add(now_us_, Event::kReady, node);
    double const longer = change(node).cpu_factor - 1;
    auto at_us = join_us_[node] + parts(node).gap_us + parts(node).busy_us * longer;
    if (wait && parts(node).takes_turns) at_us = join_us_[node] + wait->gap_us;
    if (auto const work = plan_.awaited_by(node, wait)) {
      auto const begun_us = happened_[work->from.node].at_us(work->from.after);
      at_us = std::max(at_us, begun_us + work->length_us + work->processor_us * longer);
    }
    add(std::max(now_us_, at_us), Event::kReady, node);  // a gap below 0 is a matter of rounding
  }

  /// Chromium lays nothing out until preloaded fonts are there, for kFontsUs at most.
  void wait_for_fonts(std::uint32_t paint) {
    waiting_paint_ = paint;
    add(now_us_ + kFontsUs, Event::kPaint, paint);
  }
  bool is_early_font(std::uint32_t node) const {
    return early_[node].is_made && plan_.early_fonts.contains(node);
  }
  void end_font_wait(std::uint32_t paint) {
    fonts_are_over_ = true;
    if (!std::exchange(waiting_paint_, {})) return;
    join_us_[paint] = now_us_;
    start_after_gap(paint);
  }

  /// What is ready for the main thread runs in turn.
  void wait_for_thread(std::uint32_t node) {
    if (!parts(node).takes_turns || plan_.passes_at_once(node)) return start(node);
    bool const runs = graph_.nodes[node].kind == DependencyNodeKind::kTask && !plan_.dropped[node];
    auto const start_us = occupy_thread(runs ? changed(node).task_us() : 0);
    if (start_us <= now_us_) return start(node);
    add(start_us, Event::kStart, node);
  }

  /// Returns when it is free for it.
  double occupy_thread(double length_us) {
    auto const start_us = std::max(now_us_, thread_free_us_);
    thread_free_us_ = start_us + length_us;
    return start_us;
  }

  void happened(std::uint32_t node, DependencyAfter after) {
    EarlyRequest& early = early_[node];
    if (early.is_made && !early.is_used) return early.happened.push_back(after);
    happened_[node].at_us(after) = now_us_;
    for (auto const i : plan_.work[node]) {
      if (plan_.begin_of(parts_.work[i]).after == after)
        add(now_us_ + work(i).gap_us(), Event::kWork, i);
    }
    for (LoadPlan::Outgoing const& edge : plan_.outgoing[node]) {
      auto& groups = plan_.groups[edge.to];
      auto const group = std::ranges::find(groups, edge.group);
      if (edge.after != after || group == groups.end()) continue;
      groups.erase(group);
      join_us_[edge.to] = now_us_;
      if (is_complete(edge.to)) start_after_gap(edge.to);
    }
  }

  /// Whether a node waits for nothing more.
  bool is_complete(std::uint32_t node) const {
    if (node != plan_.load_event) return plan_.groups[node].empty();
    return !load_event_is_due_ && !is_load_event_held_up();
  }
  /// HTML 13.2.7: the load event waits for what is under way.
  bool is_load_event_held_up() const {
    return std::ranges::any_of(plan_.groups[*plan_.load_event], [this](std::uint32_t group) {
      auto const loose = plan_.loose.find(group);
      return loose == plan_.loose.end() || early_[loose->second].is_used;
    });
  }

  void handle(const Event& event) {
    auto const node = event.node;
    switch (event.kind) {
      case Event::kReady:
        return wait_for_thread(node);
      case Event::kStart:
        return start(node);
      case Event::kWork:
        occupy_thread(work(node).length_us());
        return;
      case Event::kPreload:
        // Unless it was used before the document came, or was hinted at.
        if (early_[node].is_used || early_[node].is_made) return;
        early_[node].is_made = true;
        if (is_early_font(node)) ++fonts_left_;
        return make(node);
      case Event::kPreconnect:
        return pools_.preconnect(now_us_, node);
      case Event::kPaint:
        return end_font_wait(node);
      case Event::kBackup:
        return pools_.connect_backup(now_us_, node);
      case Event::kConnect:
        return ask(node);
      case Event::kSetupAnswer:
        return pools_.answer_setup(now_us_, node);
      case Event::kSetupStep:
        return pools_.set_up(now_us_, node);
      case Event::kSent: {
        if (parts(node).is_local) return read_locally(node);
        auto answered =
            now_us_ + changed(node).send_us() + changed(node).longer(parts(node).round_trip_us, 1);
        if (auto* const used = pools_.used_by(node)) answered = used->ask(answered);
        if (plan_.dropped[node]) return add(answered, Event::kFailed, node);
        happened(node, DependencyAfter::kSent);
        if (changed(node).takes_hints()) {
          for (auto const each : plan_.early_of(node).hinted) add(answered, Event::kPreload, each);
        }
        return add(answered + changed(node).think_us(), Event::kAnswer, node);
      }
      case Event::kFirstByte:
        first_byte(node);
        return add(now_us_ + parts(node).tail_us, Event::kEnd, node);
      case Event::kAnswer:
        return link_.send(
            pools_.used_by(node)->on_link, node, changed(node).bytes(),
            {.urgency = changed(node).urgency(), .incremental = parts(node).incremental});
      case Event::kEnd:
        happened(node, DependencyAfter::kEnd);
        if (graph_.nodes[node].kind != DependencyNodeKind::kRequest) return;
        return is_over(node);
      case Event::kFailed:
        pass(node);
        return is_over(node);
    }
  }

  /// The last byte came out of the link. Returns when the response ends.
  double deliver(std::uint32_t node) {
    bool const is_rate_known = parts_.bytes_per_us > 0;
    double& delivered_us = pools_.used_by(node)->delivered_us;
    delivered_us = std::max(delivered_us, now_us_) + changed(node).stall_us();
    return (is_rate_known ? delivered_us : now_us_) + changed(node).tail_us(is_rate_known);
  }

  void read_locally(std::uint32_t node) {
    if (plan_.dropped[node]) return add(now_us_, Event::kFailed, node);
    happened(node, DependencyAfter::kSent);
    if (!parts(node).is_nameless()) {
      return add(now_us_ + parts(node).think_us, Event::kFirstByte, node);
    }
    pools_.look_up_nameless(now_us_, node);
  }

  void first_byte(std::uint32_t node) {
    happened(node, DependencyAfter::kFirstByte);
    LoadPlan::Early const& early = plan_.early_of(node);
    auto const at_us = now_us_ + parts(node).taken_up_us;
    for (auto const each : early.preloaded) add(at_us, Event::kPreload, each);
    for (auto const each : early.preconnected) add(at_us, Event::kPreconnect, each);
  }

  void start(std::uint32_t node) {
    if (node == plan_.load_event) {
      // Something can have begun since it was due, or is asked for by a task that ends now.
      load_event_is_due_ = !is_load_event_held_up();
      bool const is_last = std::exchange(load_event_is_last_, load_event_is_due_);
      if (!load_event_is_due_) return;
      if (!is_last) return add(now_us_, Event::kStart, node);
    }
    early_[node].is_used = true;
    happened(node, DependencyAfter::kStart);
    if (early_[node].is_made) {
      for (auto const after : early_[node].happened) happened(node, after);
      return;
    }
    switch (graph_.nodes[node].kind) {
      case DependencyNodeKind::kMilestone: {
        auto const name = std::ranges::find(kMilestoneNames, graph_.nodes[node].name);
        reached_[static_cast<std::size_t>(name - kMilestoneNames.begin())] = now_us_;
        happened(node, DependencyAfter::kEnd);
        return;
      }
      case DependencyNodeKind::kTask:
        add(now_us_ + (plan_.dropped[node] ? 0 : changed(node).task_us()), Event::kEnd, node);
        return;
      case DependencyNodeKind::kRequest:
        break;
    }
    auto const& setup = parts_.origins[pools_.origin_of(node)];
    if (plan_.absent[node]) {
      pass(node);
    } else if (change(node).drop) {
      head_.make(node, false);
      add(now_us_ + changed(node).looking_up_us(setup), Event::kFailed, node);
    } else if (changed(node).is_at_hand() && !change(node).refused) {
      pass(node);
    } else {
      make(node);
    }
  }

  /// A request, unless the browser holds it back.
  void make(std::uint32_t node) {
    if (parts(node).is_local) return add(now_us_, Event::kSent, node);
    if (head_.make(node, parts(node).is_held_back)) go_on(node);
  }

  void go_on(std::uint32_t node) { add(now_us_ + parts(node).hold_us, Event::kConnect, node); }

  /// For its connection, unless the browser delays it.
  void ask(std::uint32_t node) {
    auto const urgency = changed(node).known_urgency();
    auto const origin = pools_.origin_of(node);
    bool const is_low = is_delayable(changed(node).protocol(), urgency);
    bool const goes_on = delayable_.make({node, origin, urgency.value_or(0), is_low});
    if (goes_on) pools_.connect(now_us_, node);
  }

  /// It leaves its connection, if it came to one.
  void is_over(std::uint32_t node) {
    pools_.leave(now_us_, node);
    bool const is_last_font = is_early_font(node) && --fonts_left_ == 0;
    if (is_last_font && waiting_paint_) end_font_wait(*waiting_paint_);
    for (auto const next : head_.ended(node)) go_on(next);
    if (auto const next = delayable_.ended(node)) pools_.connect(now_us_, *next);
  }

  /// All of it at once.
  void pass(std::uint32_t node) {
    for (auto const after :
         {DependencyAfter::kSent, DependencyAfter::kFirstByte, DependencyAfter::kEnd}) {
      happened(node, after);
    }
  }

  const DependencyGraph& graph_;
  const LoadParts& parts_;
  std::span<const NodeChange> changes_;
  TcpLink link_;
  LoadPlan plan_;                     ///< `groups`: those that are still waited for
  std::vector<double> join_us_;       ///< by node: the latest that it has waited for
  std::vector<Happenings> happened_;  ///< by node
  std::vector<EarlyRequest> early_;
  HeadRequests head_;
  DelayableRequests delayable_;
  LoadEvents events_;
  ConnectionPools pools_;
  std::size_t fonts_left_ = 0;                  ///< preloaded ones that are not there
  std::optional<std::uint32_t> waiting_paint_;  ///< the first paint, while it waits for fonts
  bool load_event_is_due_ = false;
  bool load_event_is_last_ = false;  ///< of what happens at that time
  bool fonts_are_over_ = false;      ///< the first paint waits for fonts no longer
  MilestoneTimes reached_;
  double thread_free_us_ = 0;  ///< when the main thread has done what is ready
  double now_us_ = 0;
};

}  // namespace

MilestoneTimes changed_load(const DependencyGraph& graph, const LoadParts& parts,
                            std::span<const NodeChange> changes, double link_factor) {
  return ChangedLoad(graph, parts, changes, link_factor).run();
}

}  // namespace reprise
