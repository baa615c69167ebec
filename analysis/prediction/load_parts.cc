#include "analysis/prediction/load_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/contribution/costs.h"
#include "analysis/dependency/observed_gaps.h"
#include "analysis/dependency/page_nodes.h"
#include "analysis/dependency/page_rules.h"
#include "analysis/prediction/answer_times.h"
#include "analysis/prediction/held_back.h"
#include "analysis/prediction/load_setups.h"
#include "analysis/prediction/main_thread.h"
#include "analysis/prediction/thread_work.h"

namespace reprise {
namespace {

/// By the words of the DevTools protocol.
std::optional<int> urgency_of(const Call& call) {
  constexpr std::string_view kWords[] = {"VeryHigh", "High", "Medium", "Low", "VeryLow"};
  auto const word = std::ranges::find(kWords, call.attribute("priority"));
  if (word == std::end(kWords)) return std::nullopt;
  return static_cast<int>(word - kWords);
}

/// As browsers ask for it: they can use a script, style sheet or font only as a whole.
bool is_incremental(const Call& call) {
  auto const type = call.attribute("type");
  return type != "Script" && type != "Stylesheet" && type != "Font";
}

class PartsMaker {
 public:
  PartsMaker(const DependencyGraph& graph, const ObservedPage& load, const PredictionLink& link)
      : graph_(graph),
        load_(load),
        link_(link),
        placed_(place_nodes(graph, load)),
        request_of_(requests_by_node(graph.nodes)),
        thread_(load.calls) {
    parts_.nodes.resize(graph.nodes.size());
    auto const found =
        std::ranges::find(graph.edges, DependencyKind::kParser, &DependencyEdge::kind);
    if (found != graph.edges.end()) document_ = request_of_[found->from];
    parts_.observed_us = load.milestones;
    parts_.bytes_per_us = link.bytes_per_second / 1e6;
    parts_.ahead = link.ahead;
  }

  LoadParts run() && {
    setups_ = read_setups(graph_, load_, link_, placed_, parts_);
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      if (placed_[i]) read(i);
    }
    find_connections();
    find_held_back(requests_, placed_, setups_.phases, parts_.nodes);
    find_thread_work(graph_, placed_, thread_, parts_);
    find_waits();
    return std::move(parts_);
  }

 private:
  void read(std::uint32_t i) {
    NodeTimes const& times = *placed_[i];
    NodeParts& node = parts_.nodes[i];
    node.present = true;
    node.start_us = static_cast<double>(times.start_us);
    node.end_us = static_cast<double>(times.end_us);
    auto const [begin, end] = graph_.edges_to(i);
    auto const join = join_in(placed_, begin, end).value_or(0);
    node.gap_us = static_cast<double>(times.start_us - join);
    node.busy_us = thread_.work_between(join, times.start_us).processor_us;
    switch (graph_.nodes[i].kind) {
      case DependencyNodeKind::kMilestone:
        return;
      case DependencyNodeKind::kTask:
        node.task_us = static_cast<double>(times.end_us - times.start_us);
        node.task_busy_us = processor_us(load_.calls.calls[times.call]);
        return;
      case DependencyNodeKind::kRequest:
        break;
    }
    if (node.is_nameless()) return;
    if (node.is_local) {
      // Phases that somebody wrote can contradict their request.
      auto const first_us = std::clamp(times.first_byte_us, times.start_us, times.end_us);
      node.think_us = static_cast<double>(first_us - times.start_us);
      node.tail_us = static_cast<double>(times.end_us - first_us);
      return;
    }
    if (i == document_) node.taken_up_us = taken_up_us(times);
    Call const& call = load_.calls.calls[times.call];
    node.protocol = protocol_of(call);
    node.bytes = wire_bytes(call);
    node.is_revalidated = call.attribute("status") == "304";
    node.urgency = urgency_of(call);
    // An image that turns out to be visible is given a higher priority, but later.
    node.can_be_held_back =
        node.urgency && (node.urgency > kUrgencyHigh || call.attribute("type") == "Image");
    node.incremental = !node.urgency || is_incremental(call);
    bool const is_script = call.attribute("type") == "Script";
    node.blocks_nothing = is_script && !blocks_rendering(call);
    bool const is_of_body = call.attribute("render_blocking") == "in_body_parser_blocking";
    node.is_of_head =
        is_script && node.urgency == kUrgencyHigh && !node.blocks_nothing && !is_of_body &&
        std::any_of(begin, end, [this](const DependencyEdge& edge) {
          return edge.kind == DependencyKind::kParser && request_of_[edge.from] == document_;
        });
    auto const wait = static_cast<double>(times.first_byte_us - times.sent_us);
    node.round_trip_us = std::min(wait, parts_.round_trip_us);
    // A request that took over a connection of HTTP/1.1 waited for it: that is the model's matter.
    bool const takes_over = node.protocol == PredictedProtocol::kH1 && !connects(i);
    node.queue_us = takes_over ? 0 : queue_of(i);
    // Its connection was ready when it started: the browser delayed it before it asked for one.
    auto const& first = setups_.first[node.origin];
    bool const was_ready = first && first != i && placed_[*first]->sent_us <= times.start_us;
    bool const is_delayed = was_ready && node.own_setup.sum() == 0 && node.hold_us == 0;
    if (is_delayed) node.hold_us = std::exchange(node.queue_us, 0.0);
  }

  /// What a document hints at or preloads is not asked for before its main thread parses it.
  double taken_up_us(const NodeTimes& document) const {
    auto const parse = std::ranges::find_if(load_.calls.calls, [&](const Call& call) {
      return call.kind == CallKind::kTask && call.name == "parse" &&
             call.start_us >= document.first_byte_us;
    });
    if (parse == load_.calls.calls.end()) return 0;
    auto taken_up_us = parse->start_us;  // or that was a style sheet, after something short
    for (DependencyEdge const& edge : graph_.edges) {
      bool const is_parsed = edge.kind == DependencyKind::kParser && placed_[edge.to] &&
                             request_of_[edge.from] == document_;
      if (is_parsed) taken_up_us = std::min(taken_up_us, placed_[edge.to]->start_us);
    }
    return static_cast<double>(std::max(taken_up_us - document.first_byte_us, std::int64_t{0}));
  }

  bool connects(std::uint32_t i) const {
    NodeParts const& node = parts_.nodes[i];
    bool const is_first = setups_.first[node.origin] == i && !parts_.is_shared(node.origin);
    return is_first || node.own_setup.sum() > 0;
  }

  double queue_of(std::uint32_t i) const {
    NodeTimes const& times = *placed_[i];
    NodeParts const& node = parts_.nodes[i];
    auto could = static_cast<double>(times.start_us) + node.hold_us + node.own_setup.sum();
    auto const& first = setups_.first[node.origin];
    if (first == i) {
      could += parts_.origins[node.origin].sum() - setups_.hidden_us[node.origin];
    } else if (first && node.own_setup.sum() == 0) {
      could = std::max(could, static_cast<double>(placed_[*first]->sent_us));
    }
    return std::max(0.0, static_cast<double>(times.sent_us) - could);
  }

  /// Numbers of the connections that carried the requests.
  void find_connections() {
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      if (is_sent(graph_, placed_, parts_, i)) requests_.push_back(i);
    }
    std::ranges::sort(requests_, {},
                      [this](std::uint32_t i) { return std::pair(placed_[i]->sent_us, i); });
    connection_.resize(parts_.nodes.size());
    std::size_t connections = 0;
    std::map<std::size_t, std::size_t> shared;                             // by origin
    std::map<std::size_t, std::map<std::size_t, std::int64_t>> exclusive;  // and when they are idle
    for (auto const i : requests_) {
      NodeParts const& node = parts_.nodes[i];
      if (node.protocol == PredictedProtocol::kH2) {
        bool const is_own = node.own_setup.sum() > 0;
        auto const shared_by = parts_.shared_by(node.origin);
        auto const [known, is_new] = shared.try_emplace(shared_by, connections);
        connection_[i] = is_own ? connections : known->second;
        connections += is_own || is_new ? 1 : 0;
        continue;
      }
      auto& of_origin = exclusive[node.origin];
      auto const idle = std::ranges::find_if(of_origin, [&](const auto& each) {
        return !connects(i) && each.second <= placed_[i]->sent_us + kRoundingUs;
      });
      connection_[i] = idle == of_origin.end() ? connections++ : idle->first;
      of_origin[connection_[i]] = placed_[i]->end_us;
    }
  }

  /// What waited for others: in the link's queue, or behind more urgent responses.
  void find_waits() {
    std::vector<ObservedAnswer> answers;
    for (auto const i : requests_) answers.push_back(answer(i));
    std::vector<double> probes;
    for (SetupPhase const& phase : setups_.phases) {
      probes.push_back(static_cast<double>(phase.start_us) +
                       std::min(phase.length_us, parts_.round_trip_us));
    }
    auto const times = answer_times({.bytes_per_us = parts_.bytes_per_us,
                                     .round_trip_us = parts_.round_trip_us,
                                     .ahead = parts_.ahead},
                                    answers, probes);
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      NodeParts& node = parts_.nodes[requests_[k]];
      auto const waited_us = times.at_us[k] - answers[k].asked_us;
      node.send_us = std::min(node.send_us, std::max(waited_us, 0.0));
      node.think_us = waited_us - node.send_us;
    }
    find_tails(answers, times.sent.end_us);
    for (std::size_t k = 0; k < setups_.phases.size(); ++k) {
      shorten(setups_.phases[k], times.sent.wait_us[k]);
    }
  }

  /// Bytes are delivered in the order of sending. So what ended late was there late if what was
  /// sent after it ended no earlier. If nothing was, it is not known, and only its own end is late.
  void find_tails(std::span<const ObservedAnswer> answers, std::span<const double> sent_us) {
    struct Next {
      double sent_us = TcpLink::kNever, end_us = TcpLink::kNever;
    };
    std::vector<std::size_t> order(answers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t k) { return std::pair(sent_us[k], k); });
    std::vector<double> there_us(answers.size());
    std::map<std::size_t, Next> next_on;  // by connection; the end is the earliest of all after it
    for (auto const k : order | std::views::reverse) {
      Next& next = next_on[answers[k].connection];
      auto const end_us = std::min(next.end_us, answers[k].end_us);
      bool const is_known = parts_.bytes_per_us > 0 && next.sent_us < answers[k].end_us;
      there_us[k] = is_known ? end_us : sent_us[k];
      next = {.sent_us = sent_us[k], .end_us = end_us};
    }
    std::map<std::size_t, double> last_on;
    for (auto const k : order) {
      NodeParts& node = parts_.nodes[requests_[k]];
      double& last_us = last_on[answers[k].connection];
      last_us = std::max(last_us, sent_us[k]);
      node.stall_us = std::max(0.0, there_us[k] - last_us);
      last_us += node.stall_us;
      node.tail_us = std::max(0.0, answers[k].end_us - last_us);
    }
  }

  ObservedAnswer answer(std::uint32_t i) const {
    NodeTimes const& times = *placed_[i];
    NodeParts const& node = parts_.nodes[i];
    bool const is_ordered = node.protocol == PredictedProtocol::kH2 && node.urgency.has_value();
    return {.asked_us = static_cast<double>(times.sent_us) + node.round_trip_us,
            .first_byte_us = static_cast<double>(times.first_byte_us),
            .end_us = static_cast<double>(times.end_us),
            .connection = connection_[i],
            .bytes = node.bytes,
            .priority = {.urgency = node.urgency.value_or(kUrgencyMedium),
                         .incremental = node.incremental},
            .is_ordered = is_ordered,
            .can_be_held = is_ordered && !connects(i) && graph_.nodes[i].type != "Document"};
  }

  void shorten(const SetupPhase& phase, double wait_us) {
    auto& setup = setups_.first[parts_.nodes[phase.node].origin] == phase.node
                      ? parts_.origins[parts_.nodes[phase.node].origin]
                      : parts_.nodes[phase.node].own_setup;
    auto const most_us = std::max(0.0, phase.length_us - parts_.round_trip_us);
    setup.*phase.part = std::max(0.0, setup.*phase.part - std::min(wait_us, most_us));
  }

  const DependencyGraph& graph_;
  const ObservedPage& load_;
  const PredictionLink& link_;
  PlacedLoad placed_;
  RequestsByNode request_of_;
  MainThread thread_;
  LoadParts parts_;
  std::optional<std::uint32_t> document_;  ///< of the page; frames have others
  std::vector<std::uint32_t> requests_;    ///< nodes of the load that are sent, in that order
  std::vector<std::size_t> connection_;    ///< by node
  LoadSetups setups_;
};

}  // namespace

LoadParts load_parts(const DependencyGraph& graph, const ObservedPage& load,
                     const PredictionLink& link) {
  return PartsMaker(graph, load, link).run();
}

}  // namespace reprise
