#include "analysis/prediction/changed_load.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/prediction/shared_link.h"

namespace reprise {
namespace {

/// Browsers open no more of HTTP/1.1 to an origin.
constexpr std::size_t kConnectionsMax = 6;

class ChangedLoad {
 public:
  ChangedLoad(const DependencyGraph& graph, const LoadParts& parts,
              std::span<const NodeChange> changes, double link_factor)
      : graph_(graph),
        parts_(parts),
        changes_(changes),
        link_(parts.bytes_per_us * link_factor),
        link_factor_(link_factor),
        dropped_(graph.nodes.size()),
        waiting_(graph.nodes.size()),
        outgoing_(graph.nodes.size()),
        origins_(parts.origins.size()),
        early_(graph.nodes.size()),
        held_back_(graph.nodes.size()) {
    find_dropped();
    find_edges();
    find_early();
  }

  MilestoneTimes run() && {
    for (std::uint32_t node = 0; node < waiting_.size(); ++node) {
      if (parts_.nodes[node].present && waiting_[node].groups.empty()) start_after_gap(node);
    }
    for (;;) {
      auto const next = events_.empty() ? SharedLink::kNever : events_.top().at_us;
      auto const end = link_.next_end();
      if (next == SharedLink::kNever && end == SharedLink::kNever) break;
      now_us_ = std::min(next, end);
      for (auto const node : link_.advance(now_us_)) {
        add(now_us_ + tail_of(static_cast<std::uint32_t>(node)), Event::kEnd,
            static_cast<std::uint32_t>(node));
      }
      if (next > now_us_) continue;
      auto const event = events_.top();
      events_.pop();
      handle(event);
    }
    return reached_;
  }

 private:
  struct Event {
    enum Kind { kStart, kPreload, kPreconnect, kSent, kFirstByte, kEnd, kFailed };
    double at_us = 0;
    std::uint64_t number = 0;  ///< in the order of adding
    Kind kind = kStart;
    std::uint32_t node = 0;
    bool operator>(const Event& other) const {
      return std::tuple(at_us, number) > std::tuple(other.at_us, other.number);
    }
  };
  /// What a node still waits for, and the latest that it waited for.
  struct Waiting {
    std::vector<std::uint32_t> groups;  ///< numbers of edges or alternatives
    double join_us = 0;
  };
  struct Outgoing {
    std::uint32_t to = 0;
    std::uint32_t group = 0;
    DependencyAfter after = DependencyAfter::kEnd;
  };
  /// A request that is made before it is used: what happens to it before does not count until then.
  struct Early {
    bool is_made = false;
    bool is_used = false;
    std::vector<DependencyAfter> happened;
  };
  struct Origin {
    std::optional<double> ready_us;  ///< HTTP/2, or preconnected: when its connection can be used
    std::size_t open = 0;            ///< HTTP/1.1
    std::size_t idle = 0;
    bool is_preconnected = false;  ///< HTTP/1.1: with a connection that nothing has used yet
    std::deque<std::uint32_t> waiting;
  };

  const NodeParts& parts(std::uint32_t node) const { return parts_.nodes[node]; }
  const NodeChange& change(std::uint32_t node) const { return changes_[node]; }

  void add(double at_us, Event::Kind kind, std::uint32_t node) {
    events_.push({.at_us = at_us, .number = ++events_added_, .kind = kind, .node = node});
  }

  /// What a dropped request initiates is not made either.
  void find_dropped() {
    for (std::uint32_t node = 0; node < dropped_.size(); ++node) {
      auto const [begin, end] = graph_.edges_to(node);
      bool const is_task = graph_.nodes[node].kind == DependencyNodeKind::kTask;
      dropped_[node] = (!is_task && (change(node).drop || change(node).refused)) ||
                       std::any_of(begin, end, [&](const auto& edge) {
                         bool const asks = edge.kind == DependencyKind::kInitiator ||
                                           edge.kind == DependencyKind::kParser ||
                                           edge.kind == DependencyKind::kStyle;
                         return asks && edge.evidence.named && dropped_[edge.from];
                       });
    }
  }

  void find_edges() {
    for (std::uint32_t node = 0; node < waiting_.size(); ++node) {
      if (!parts(node).present) continue;
      auto const [begin, end] = graph_.edges_to(node);
      std::uint32_t group = 0;
      std::uint32_t alternative = 0;
      for (auto const* edge = begin; edge != end; ++edge) {
        if (edge->kind == DependencyKind::kConnection || !parts(edge->from).present) continue;
        // A dropped alternative never comes, unless all of them are dropped.
        if (edge->alternative != 0 && dropped_[edge->from] && !dropped_[node]) continue;
        if (edge->alternative == 0 || edge->alternative != alternative) ++group;
        alternative = edge->alternative;
        auto& groups = waiting_[node].groups;
        if (groups.empty() || groups.back() != group) groups.push_back(group);
        outgoing_[edge->from].push_back({.to = node, .group = group, .after = edge->after});
      }
    }
  }

  /// With the first document that found something.
  void find_early() {
    auto const found = std::ranges::find_if(graph_.edges, [this](const DependencyEdge& edge) {
      return edge.kind == DependencyKind::kParser && parts(edge.from).present &&
             !dropped_[edge.from];
    });
    if (found == graph_.edges.end()) return;
    document_ = found->from;
    for (std::uint32_t node = document_ + 1; node < early_.size(); ++node) {
      bool const is_made = graph_.nodes[node].kind == DependencyNodeKind::kRequest &&
                           parts(node).present && !dropped_[node] && !change(node).at_hand;
      if (!is_made) continue;
      if (change(node).preload) at_first_byte_.emplace_back(node, Event::kPreload);
      if (change(node).preconnect) at_first_byte_.emplace_back(node, Event::kPreconnect);
      if (change(node).early_hints) hinted_.push_back(node);
    }
  }

  void start_after_gap(std::uint32_t node) {
    double const work = parts(node).busy_us * (change(node).cpu_factor - 1);
    // A gap below 0 is a matter of rounding.
    add(std::max(now_us_, waiting_[node].join_us + parts(node).gap_us + work), Event::kStart, node);
  }

  void happened(std::uint32_t node, DependencyAfter after) {
    if (early_[node].is_made && !early_[node].is_used) {
      early_[node].happened.push_back(after);
      return;
    }
    for (Outgoing const& edge : outgoing_[node]) {
      if (edge.after != after) continue;
      Waiting& waiting = waiting_[edge.to];
      auto const group = std::ranges::find(waiting.groups, edge.group);
      if (group == waiting.groups.end()) continue;
      waiting.groups.erase(group);
      waiting.join_us = now_us_;
      if (waiting.groups.empty()) start_after_gap(edge.to);
    }
  }

  void handle(const Event& event) {
    auto const node = event.node;
    switch (event.kind) {
      case Event::kStart:
        return start(node);
      case Event::kPreload:
        // Unless it was used before the document came, or was hinted at.
        if (early_[node].is_used || early_[node].is_made) return;
        early_[node].is_made = true;
        return connect(node);
      case Event::kPreconnect:
        return preconnect(node);
      case Event::kSent: {
        NodeChange const& changed = change(node);
        auto const answered = now_us_ + longer(parts(node).round_trip_us, 1, node);
        if (dropped_[node]) return add(answered, Event::kFailed, node);
        happened(node, DependencyAfter::kSent);
        if (node == document_) {
          for (auto const hinted : hinted_) add(answered, Event::kPreload, hinted);
        }
        auto const think =
            parts(node).think_us * changed.think_factor + static_cast<double>(changed.think_us);
        return add(answered + std::max(think, 0.0), Event::kFirstByte, node);
      }
      case Event::kFirstByte:
        if (is_held_back(node)) return held_back_[*parts(node).behind]->push_back(node);
        held_back_[node].emplace();
        happened(node, DependencyAfter::kFirstByte);
        if (node == document_) {
          for (auto const& [early, kind] : at_first_byte_) add(now_us_, kind, early);
        }
        return link_.add(
            node, bytes_of(node),
            protocol(node) == PredictedProtocol::kH1 ? SharedLink::kOwnConnection : origin_of(node),
            {.urgency = urgency_of(node), .incremental = parts(node).incremental});
      case Event::kEnd:
        if (auto const held = std::exchange(held_back_[node], {})) {
          for (auto const next : *held) add(now_us_, Event::kFirstByte, next);
        }
        happened(node, DependencyAfter::kEnd);
        if (graph_.nodes[node].kind == DependencyNodeKind::kRequest) leave_connection(node);
        return;
      case Event::kFailed:
        pass(node);
        if (change(node).refused) leave_connection(node);
        return;
    }
  }

  bool is_held_back(std::uint32_t node) const {
    auto const first = parts(node).behind;
    return first && held_back_[*first] && protocol(node) == PredictedProtocol::kH2 &&
           protocol(*first) == protocol(node) && origin_of(*first) == origin_of(node) &&
           urgency_of(*first) <= urgency_of(node);
  }

  /// By the change of so many round trips.
  double longer(double length_us, int round_trips, std::uint32_t node) const {
    return std::max(0.0, length_us + round_trips * static_cast<double>(change(node).rtt_us));
  }

  void start(std::uint32_t node) {
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
        add(now_us_ + (dropped_[node] ? 0 : parts(node).task_us * change(node).cpu_factor),
            Event::kEnd, node);
        return;
      case DependencyNodeKind::kRequest:
        break;
    }
    auto const& setup = parts_.origins[origin_of(node)];
    if (dropped_[node] && change(node).drop) {
      add(now_us_ + looking_up(setup, node), Event::kFailed, node);
    } else if (dropped_[node] ? !change(node).refused : change(node).at_hand) {
      pass(node);
    } else {
      connect(node);
    }
  }

  /// All of it at once.
  void pass(std::uint32_t node) {
    for (auto const after :
         {DependencyAfter::kSent, DependencyAfter::kFirstByte, DependencyAfter::kEnd}) {
      happened(node, after);
    }
  }

  PredictedProtocol protocol(std::uint32_t node) const {
    return change(node).protocol.value_or(parts(node).protocol);
  }

  std::size_t origin_of(std::uint32_t node) const {
    return parts(change(node).coalesce ? document_ : node).origin;
  }

  double looking_up(const ConnectionSetup& setup, std::uint32_t node) const {
    if (setup.dns_us == 0) return 0;
    return std::max(0.0, setup.dns_us + static_cast<double>(change(node).dns_us));
  }
  double setting_up(const ConnectionSetup& setup, std::uint32_t node) const {
    return looking_up(setup, node) +
           longer(setup.connect_us + setup.tls_us, setup.round_trips(), node);
  }

  void preconnect(std::uint32_t node) {
    Origin& origin = origins_[origin_of(node)];
    if (origin.ready_us || origin.open > 0) return;
    origin.ready_us = now_us_ + setting_up(parts_.origins[origin_of(node)], node);
    if (protocol(node) != PredictedProtocol::kH1) return;
    ++origin.open;
    origin.is_preconnected = true;
  }

  void connect(std::uint32_t node) {
    Origin& origin = origins_[origin_of(node)];
    auto setup = parts_.origins[origin_of(node)];
    if (protocol(node) == PredictedProtocol::kH1) {
      if (std::exchange(origin.is_preconnected, false)) {
        return send(node, std::max(now_us_, *origin.ready_us));
      }
      if (origin.idle > 0) {
        --origin.idle;
        return send(node, now_us_);
      }
      if (origin.open >= kConnectionsMax) {
        origin.waiting.push_back(node);
        return;
      }
      if (++origin.open > 1) setup.dns_us = 0;
      return send(node, now_us_ + setting_up(setup, node));
    }
    if (!origin.ready_us) {
      origin.ready_us = now_us_ + setting_up(setup, node);
      return send(node, *origin.ready_us);
    }
    auto const& own = parts(node).own_setup;
    if (own.sum() > 0 && !change(node).protocol && !change(node).coalesce) {
      return send(node, now_us_ + setting_up(own, node));
    }
    send(node, std::max(now_us_, *origin.ready_us));
  }

  void send(std::uint32_t node, double at_us) {
    add(at_us + parts(node).queue_us, Event::kSent, node);
  }

  void leave_connection(std::uint32_t node) {
    if (protocol(node) != PredictedProtocol::kH1) return;
    Origin& origin = origins_[origin_of(node)];
    if (origin.waiting.empty()) {
      ++origin.idle;
      return;
    }
    auto const next = origin.waiting.front();
    origin.waiting.pop_front();
    send(next, now_us_);
  }

  int urgency_of(std::uint32_t node) const {
    auto const otherwise = change(node).loading ? kUrgencyLow : parts(node).urgency;
    return change(node).urgency.value_or(otherwise);
  }

  double bytes_of(std::uint32_t node) const {
    NodeChange const& changed = change(node);
    return std::max(0.0, parts(node).bytes * changed.bytes_factor + changed.bytes_added);
  }

  double tail_of(std::uint32_t node) const {
    NodeParts const& each = parts(node);
    auto const round_trip =
        std::max(0.0, parts_.round_trip_us + static_cast<double>(change(node).rtt_us));
    auto const slow_start = [&](double bytes, double round_trip_us, double rate) {
      return each.slow_start * slow_start_us(bytes, round_trip_us, rate);
    };
    auto const before = slow_start(each.bytes, parts_.round_trip_us, parts_.bytes_per_us);
    if (parts_.bytes_per_us > 0) {
      auto const after = slow_start(bytes_of(node), round_trip, parts_.bytes_per_us * link_factor_);
      return std::max(0.0, each.tail_us - before + after);
    }
    // Without the link's rate, the whole transfer is tail.
    auto const factor = each.bytes > 0 ? bytes_of(node) / each.bytes : change(node).bytes_factor;
    return std::max(0.0, each.tail_us * factor + slow_start(each.bytes, round_trip, 0) - before);
  }

  const DependencyGraph& graph_;
  const LoadParts& parts_;
  std::span<const NodeChange> changes_;
  SharedLink link_;
  double link_factor_;
  std::vector<bool> dropped_;
  std::vector<Waiting> waiting_;
  std::vector<std::vector<Outgoing>> outgoing_;
  std::vector<Origin> origins_;
  std::vector<Early> early_;
  std::vector<std::optional<std::vector<std::uint32_t>>> held_back_;  ///< by what is on the wire
  std::uint32_t document_ = 0;
  std::vector<std::pair<std::uint32_t, Event::Kind>> at_first_byte_;
  std::vector<std::uint32_t> hinted_;  ///< of the document's early hints
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t events_added_ = 0;
  MilestoneTimes reached_;
  double now_us_ = 0;
};

}  // namespace

MilestoneTimes changed_load(const DependencyGraph& graph, const LoadParts& parts,
                            std::span<const NodeChange> changes, double link_factor) {
  return ChangedLoad(graph, parts, changes, link_factor).run();
}

}  // namespace reprise
