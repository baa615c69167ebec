#include "analysis/prediction/load_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "analysis/contribution/costs.h"
#include "analysis/dependency/observed_gaps.h"
#include "analysis/dependency/page_nodes.h"
#include "analysis/prediction/shared_link.h"

namespace reprise {
namespace {

/// A sender begins with ten segments (RFC 6928).
constexpr double kFirstWindowBytes = 10 * 1460;
/// A response that ends so soon after another one was sent right behind it.
constexpr std::int64_t kRightBehindUs = 5'000;

std::string_view origin_of(std::string_view url) {
  auto const authority = url.find("://");
  if (authority == std::string_view::npos) return url;
  return url.substr(0, url.find('/', authority + 3));
}

/// By the words of the DevTools protocol.
int urgency_of(const Call& call) {
  constexpr std::string_view kWords[] = {"VeryHigh", "High", "Medium", "Low", "VeryLow"};
  auto const word = std::ranges::find(kWords, call.attribute("priority"));
  return word == std::end(kWords) ? kUrgencyUnknown : static_cast<int>(word - kWords);
}

/// As browsers ask for it: they can use a script, style sheet or font only as a whole.
bool is_incremental(const Call& call) {
  auto const type = call.attribute("type");
  return type != "Script" && type != "Stylesheet" && type != "Font";
}

class PartsMaker {
 public:
  PartsMaker(const DependencyGraph& graph, const ObservedPage& load, const PredictionLink& link)
      : graph_(graph), load_(load), link_(link), placed_(place_nodes(graph, load)) {
    parts_.nodes.resize(graph.nodes.size());
    parts_.observed_us = load.milestones;
    parts_.bytes_per_us = link.bytes_per_second / 1e6;
  }

  LoadParts run() && {
    read_tasks();
    read_setups();
    find_round_trip();
    parts_.round_trip_us = round_trip_us_;
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      if (placed_[i]) read(i);
    }
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) find_held_back(i);
    find_tails();
    return std::move(parts_);
  }

 private:
  void read_setups() {
    std::vector<ConnectionSetup> of_call(load_.calls.calls.size());
    for (Call const& call : load_.calls.calls) {
      if (call.kind != CallKind::kPhase || call.parent == kNoParent) continue;
      auto const length = static_cast<double>(call.end_us - call.start_us);
      if (call.name == "dns") of_call[call.parent].dns_us += length;
      if (call.name == "connect") of_call[call.parent].connect_us += length;
      if (call.name == "tls") of_call[call.parent].tls_us += length;
    }
    std::map<std::string_view, std::size_t> origins;
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      NodeParts& node = parts_.nodes[i];
      if (!placed_[i] || graph_.nodes[i].kind != DependencyNodeKind::kRequest) continue;
      node.origin =
          origins.emplace(origin_of(graph_.nodes[i].name), parts_.origins.size()).first->second;
      if (node.origin == parts_.origins.size()) {
        parts_.origins.emplace_back();
        first_.emplace_back();
      }
      node.own_setup = of_call[placed_[i]->call];
      bool const connects = node.own_setup.connect_us + node.own_setup.tls_us > 0;
      if (!connects) node.own_setup = {};
      auto& first = first_[node.origin];
      if (connects && (!first || placed_[i]->start_us < placed_[*first]->start_us)) first = i;
    }
    forget_first_if_used_before();
    for (std::size_t origin = 0; origin < first_.size(); ++origin) {
      if (!first_[origin]) continue;
      parts_.origins[origin] = parts_.nodes[*first_[origin]].own_setup;
      parts_.nodes[*first_[origin]].own_setup = {};
    }
  }

  /// A preconnect, or another host's connection, can be there before any request connects.
  void forget_first_if_used_before() {
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      NodeParts const& node = parts_.nodes[i];
      bool const uses_another = placed_[i] && node.own_setup.sum() == 0 &&
                                graph_.nodes[i].kind == DependencyNodeKind::kRequest;
      if (!uses_another) continue;
      auto& first = first_[node.origin];
      if (first && placed_[i]->sent_us < placed_[*first]->sent_us - kRoundingUs) first.reset();
    }
  }

  /// The main thread's work, as intervals that do not overlap.
  void read_tasks() {
    std::vector<std::pair<std::int64_t, std::int64_t>> tasks;
    for (Call const& call : load_.calls.calls) {
      if (call.kind == CallKind::kTask) tasks.emplace_back(call.start_us, call.end_us);
    }
    std::ranges::sort(tasks);
    for (auto const& [start, end] : tasks) {
      if (busy_.empty() || start > busy_.back().second) {
        busy_.emplace_back(start, end);
      } else {
        busy_.back().second = std::max(busy_.back().second, end);
      }
    }
  }

  double busy_between(std::int64_t from_us, std::int64_t to_us) const {
    if (busy_.empty()) return static_cast<double>(std::max<std::int64_t>(to_us - from_us, 0));
    std::int64_t sum = 0;
    auto const first = std::ranges::upper_bound(busy_, from_us, {},
                                                &std::pair<std::int64_t, std::int64_t>::second);
    for (auto each = first; each != busy_.end() && each->first < to_us; ++each) {
      sum += std::min(each->second, to_us) - std::max(each->first, from_us);
    }
    return static_cast<double>(sum);
  }

  void find_round_trip() {
    if (link_.rtt_us > 0) {
      round_trip_us_ = static_cast<double>(link_.rtt_us);
      return;
    }
    double shortest = 0;
    auto const take = [&shortest](double length) {
      if (length > 0 && (shortest == 0 || length < shortest)) shortest = length;
    };
    for (ConnectionSetup const& setup : parts_.origins) take(setup.connect_us);
    for (auto const& times : placed_) {
      if (times) take(static_cast<double>(times->first_byte_us - times->sent_us));
    }
    round_trip_us_ = shortest;
  }

  void read(std::uint32_t i) {
    NodeTimes const& times = *placed_[i];
    NodeParts& node = parts_.nodes[i];
    node.present = true;
    auto const [begin, end] = graph_.edges_to(i);
    auto const join = join_in(placed_, begin, end).value_or(0);
    node.gap_us = static_cast<double>(times.start_us - join);
    node.busy_us = busy_between(join, times.start_us);
    switch (graph_.nodes[i].kind) {
      case DependencyNodeKind::kMilestone:
        return;
      case DependencyNodeKind::kTask:
        node.task_us = static_cast<double>(times.end_us - times.start_us);
        return;
      case DependencyNodeKind::kRequest:
        break;
    }
    Call const& call = load_.calls.calls[times.call];
    auto const protocol = call.attribute("protocol");
    node.protocol =
        protocol.starts_with("http/1") ? PredictedProtocol::kH1 : PredictedProtocol::kH2;
    node.bytes = wire_bytes(call);
    node.urgency = urgency_of(call);
    node.incremental = node.urgency == kUrgencyUnknown || is_incremental(call);
    auto const wait = static_cast<double>(times.first_byte_us - times.sent_us);
    node.round_trip_us = std::min(wait, round_trip_us_);
    node.think_us = wait - node.round_trip_us;
    // A request that took over a connection of HTTP/1.1 waited for it: that is the model's matter.
    bool const takes_over = node.protocol == PredictedProtocol::kH1 && !connects(i);
    node.queue_us = takes_over ? 0 : queue_of(i);
  }

  bool connects(std::uint32_t i) const {
    NodeParts const& node = parts_.nodes[i];
    return first_[node.origin] == i || node.own_setup.sum() > 0;
  }

  double queue_of(std::uint32_t i) const {
    NodeTimes const& times = *placed_[i];
    NodeParts const& node = parts_.nodes[i];
    auto could = static_cast<double>(times.start_us) + node.own_setup.sum();
    auto const& first = first_[node.origin];
    if (first == i) {
      could += parts_.origins[node.origin].sum();
    } else if (first && node.own_setup.sum() == 0) {
      could = std::max(could, static_cast<double>(placed_[*first]->sent_us));
    }
    return std::max(0.0, static_cast<double>(times.sent_us) - could);
  }

  /// A server of HTTP/2 sends a response after those that go first, and after what it has given to
  /// its socket: a small script behind a large one seems to be slow.
  void find_held_back(std::uint32_t i) {
    NodeParts& node = parts_.nodes[i];
    bool const is_small = node.bytes <= parts_.bytes_per_us * kRightBehindUs;
    bool const can_be =
        is_small && is_sent_on_shared(i) && !connects(i) && graph_.nodes[i].type != "Document";
    if (!can_be) return;
    NodeTimes const& own = *placed_[i];
    std::int64_t const earliest_us = own.sent_us + std::llround(node.round_trip_us);
    for (std::uint32_t other = 0; other < parts_.nodes.size(); ++other) {
      if (other == i || !is_sent_on_shared(other) || !goes_first(other, i)) continue;
      NodeTimes const& before = *placed_[other];
      auto const after_us = own.end_us - before.end_us;
      // It was on the wire when this response could have been.
      bool const is_right_behind = before.first_byte_us <= earliest_us + kRightBehindUs &&
                                   before.end_us > earliest_us &&
                                   std::abs(after_us) <= kRightBehindUs;
      if (!is_right_behind) continue;
      if (node.behind && placed_[*node.behind]->end_us >= before.end_us) continue;
      node.behind = other;
    }
    if (!node.behind) return;
    auto const began_us = placed_[*node.behind]->first_byte_us + 1;
    node.think_us = static_cast<double>(std::max<std::int64_t>(began_us - earliest_us, 0));
  }

  bool is_sent_on_shared(std::uint32_t i) const {
    return placed_[i] && graph_.nodes[i].kind == DependencyNodeKind::kRequest &&
           parts_.nodes[i].protocol == PredictedProtocol::kH2 &&
           parts_.nodes[i].urgency != kUrgencyUnknown;
  }

  bool goes_first(std::uint32_t a, std::uint32_t b) const {
    auto const& first = parts_.nodes[a];
    auto const& then = parts_.nodes[b];
    if (first.origin != then.origin) return false;
    if (first.urgency != then.urgency) return first.urgency < then.urgency;
    if (then.incremental) return !first.incremental;
    return !first.incremental && placed_[a]->sent_us <= placed_[b]->sent_us;
  }

  /// When the bytes of a response can be sent.
  double transfer_start(std::uint32_t i) const {
    auto const& behind = parts_.nodes[i].behind;
    auto const first_byte_us = placed_[i]->first_byte_us;
    return static_cast<double>(behind ? std::max(first_byte_us, placed_[*behind]->end_us)
                                      : first_byte_us);
  }

  /// Lets the transfers share the link from their observed first bytes on.
  void find_tails() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      bool const is_request = graph_.nodes[i].kind == DependencyNodeKind::kRequest;
      if (placed_[i] && is_request) order.push_back(i);
    }
    std::ranges::sort(order, {},
                      [this](std::uint32_t i) { return std::pair(transfer_start(i), i); });
    SharedLink link(parts_.bytes_per_us);
    auto const finish_until = [&](double at_us) {
      for (auto end = link.next_end(); end <= at_us && end != SharedLink::kNever;
           end = link.next_end()) {
        for (auto const i : link.advance(end)) set_tail(static_cast<std::uint32_t>(i), end);
      }
    };
    for (auto const i : order) {
      auto const at = transfer_start(i);
      finish_until(at);
      link.advance(at);
      NodeParts const& node = parts_.nodes[i];
      bool const has_own = node.protocol == PredictedProtocol::kH1;
      link.add(i, node.bytes, has_own ? SharedLink::kOwnConnection : node.origin,
               {.urgency = node.urgency, .incremental = node.incremental});
    }
    finish_until(SharedLink::kNever);
  }

  void set_tail(std::uint32_t i, double end_us) {
    NodeParts& node = parts_.nodes[i];
    node.tail_us = std::max(0.0, static_cast<double>(placed_[i]->end_us) - end_us);
    auto const whole = slow_start_us(node.bytes, round_trip_us_, parts_.bytes_per_us);
    // A connection that was used before starts with a larger window.
    node.slow_start = whole > 0 ? std::min(node.tail_us / whole, 1.0) : connects(i) ? 1 : 0;
  }

  const DependencyGraph& graph_;
  const ObservedPage& load_;
  const PredictionLink& link_;
  PlacedLoad placed_;
  LoadParts parts_;
  std::vector<std::optional<std::uint32_t>> first_;  ///< that connected, of each origin
  std::vector<std::pair<std::int64_t, std::int64_t>> busy_;
  double round_trip_us_ = 0;
};

}  // namespace

double slow_start_us(double bytes, double round_trip_us, double bytes_per_us) {
  double sum = 0;
  double sent = kFirstWindowBytes;
  for (double window = kFirstWindowBytes; sent < bytes; sent += window) {
    auto const idle = round_trip_us - (bytes_per_us > 0 ? window / bytes_per_us : 0);
    if (idle <= 0) break;
    sum += idle;
    window *= 2;
  }
  return sum;
}

LoadParts load_parts(const DependencyGraph& graph, const ObservedPage& load,
                     const PredictionLink& link) {
  return PartsMaker(graph, load, link).run();
}

}  // namespace reprise
