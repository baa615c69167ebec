#include "analysis/prediction/load_setups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/dependency/observed_gaps.h"

namespace reprise {
namespace {

std::string_view origin_of(std::string_view url) {
  auto const authority = url.find("://");
  if (authority == std::string_view::npos) return url;
  return url.substr(0, url.find('/', authority + 3));
}

/// The network did not answer it. A failure without a status has no connection that is known.
bool is_local(const Call& call) {
  bool const has_failed = !call.attribute("failure").empty() && call.attribute("status").empty();
  return has_failed || !call.attribute("cached").empty();
}

/// It failed since nobody knows its name. Chromium then asks once more, by way of the C library.
bool is_nameless(const Call& call) {
  return call.attribute("failure") == "net::ERR_NAME_NOT_RESOLVED";
}

class SetupReader {
 public:
  SetupReader(const DependencyGraph& graph, const ObservedPage& load, const PlacedLoad& placed,
              LoadParts& parts)
      : graph_(graph), load_(load), placed_(placed), parts_(parts) {}

  LoadSetups run(const PredictionLink& link) && {
    read_phases();
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      if (placed_[i] && graph_.nodes[i].kind == DependencyNodeKind::kRequest) read(i);
    }
    join_unknown_connections();
    forget_first_if_used_before();
    find_shares();
    find_holds();
    for (std::size_t origin = 0; origin < setups_.first.size(); ++origin) {
      auto const& first = setups_.first[origin];
      if (first) parts_.origins[origin] = std::exchange(parts_.nodes[*first].own_setup, {});
    }
    parts_.round_trip_us = link.rtt_us > 0 ? static_cast<double>(link.rtt_us) : shortest_us();
    find_hidden_setups();
    find_shared_look_ups();
    find_nameless();
    return std::move(setups_);
  }

 private:
  /// Of one call.
  struct Phases {
    ConnectionSetup setup;
    double send_us = 0;
    std::vector<SetupPhase> phases;
  };

  void read_phases() {
    phases_.resize(load_.calls.calls.size());
    for (Call const& call : load_.calls.calls) {
      if (call.kind != CallKind::kPhase || call.parent == kNoParent) continue;
      Phases& of_call = phases_[call.parent];
      auto const length = static_cast<double>(call.end_us - call.start_us);
      if (call.name == "send") of_call.send_us += length;
      for (auto const& [name, part] : {std::pair("dns", &ConnectionSetup::dns_us),
                                       {"connect", &ConnectionSetup::connect_us},
                                       {"tls", &ConnectionSetup::tls_us}}) {
        if (call.name != name) continue;
        of_call.setup.*part += length;
        of_call.phases.push_back({.part = part, .start_us = call.start_us, .length_us = length});
      }
    }
  }

  void read(std::uint32_t i) {
    NodeParts& node = parts_.nodes[i];
    std::pair const key(origin_of(graph_.nodes[i].name), connection_of(i));
    node.origin = origins_.emplace(key, parts_.origins.size()).first->second;
    if (!key.second.empty()) first_of_.emplace(key.first, node.origin);
    if (node.origin == parts_.origins.size()) {
      parts_.origins.emplace_back();
      setups_.first.emplace_back();
    }
    node.is_local = is_local(call(i));
    if (node.is_local) return;
    Phases& of_call = phases_[placed_[i]->call];
    node.send_us = of_call.send_us;
    bool const connects = of_call.setup.connect_us + of_call.setup.tls_us > 0;
    if (!connects) return;
    node.own_setup = of_call.setup;
    for (SetupPhase& phase : of_call.phases) {
      phase.node = i;
      setups_.phases.push_back(phase);
    }
    auto& first = setups_.first[node.origin];
    if (!first || placed_[i]->sent_us < placed_[*first]->sent_us) first = i;
  }

  /// What came from the cache or failed has no connection: it counts for its origin's first one.
  void join_unknown_connections() {
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      auto const first = first_of_.find(origin_of(graph_.nodes[i].name));
      bool const is_unknown = parts_.nodes[i].is_local && first != first_of_.end();
      if (is_unknown) parts_.nodes[i].origin = first->second;
    }
  }

  /// Hosts that used one connection share it: that of the origin whose request made it, or, if that
  /// is not known, of the one that used it first.
  void find_shares() {
    std::map<std::string_view, std::uint32_t> first_on;  // by connection
    auto const is_earlier = [this](std::uint32_t a, std::uint32_t b) {
      auto const key = [this](std::uint32_t i) {
        bool const connects = setups_.first[parts_.nodes[i].origin] == i;
        return std::tuple(!connects, placed_[i]->sent_us, i);
      };
      return key(a) < key(b);
    };
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      auto const connection = connection_of(i);
      if (connection.empty()) continue;
      auto& first = first_on.emplace(connection, i).first->second;
      if (is_earlier(i, first)) first = i;
    }
    parts_.shares.resize(parts_.origins.size());
    std::iota(parts_.shares.begin(), parts_.shares.end(), std::size_t{0});
    for (auto const& [key, origin] : origins_) {
      auto const first = first_on.find(key.second);
      if (first != first_on.end()) parts_.shares[origin] = parts_.nodes[first->second].origin;
    }
  }

  /// Over HTTP/2, if the browser tells.
  std::string_view connection_of(std::uint32_t i) const {
    bool const is_request = placed_[i] && graph_.nodes[i].kind == DependencyNodeKind::kRequest;
    bool const is_known =
        is_request && !is_local(call(i)) && protocol_of(call(i)) == PredictedProtocol::kH2;
    return is_known ? call(i).attribute("connection") : std::string_view();
  }

  /// A preconnect, or another host's connection, can be there before any request connects.
  void forget_first_if_used_before() {
    std::vector<std::int64_t> ready_us(parts_.nodes.size());
    for (SetupPhase const& phase : setups_.phases) {
      auto const end_us = phase.start_us + static_cast<std::int64_t>(phase.length_us);
      ready_us[phase.node] = std::max(ready_us[phase.node], end_us);
    }
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      if (!uses_another(i)) continue;
      auto& first = setups_.first[parts_.nodes[i].origin];
      if (first && placed_[i]->sent_us < ready_us[*first] - kRoundingUs) first.reset();
    }
  }

  /// Until a request asked for a connection: when its name was looked up, or the connection that it
  /// uses was begun, if it started before that.
  void find_holds() {
    std::vector<std::optional<std::int64_t>> begun_us(parts_.nodes.size());
    for (SetupPhase const& phase : setups_.phases) {
      auto& begun = begun_us[phase.node];
      begun = std::min(begun.value_or(phase.start_us), phase.start_us);
    }
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      if (!is_sent(graph_, placed_, parts_, i)) continue;
      auto begun = begun_us[i];
      auto const& first = setups_.first[parts_.nodes[i].origin];
      if (!begun && first && protocol_of(call(i)) == PredictedProtocol::kH2) {
        begun = begun_us[*first];
      }
      auto const hold = begun ? *begun - placed_[i]->start_us : 0;
      parts_.nodes[i].hold_us = static_cast<double>(std::max<std::int64_t>(hold, 0));
    }
  }

  double shortest_us() const {
    double shortest = 0;
    auto const take = [&shortest](double length) {
      if (length > 0 && (shortest == 0 || length < shortest)) shortest = length;
    };
    for (ConnectionSetup const& setup : parts_.origins) take(setup.connect_us);
    for (std::uint32_t i = 0; i < placed_.size(); ++i) {
      if (!is_sent(graph_, placed_, parts_, i)) continue;
      take(static_cast<double>(placed_[i]->first_byte_us - placed_[i]->sent_us));
    }
    return shortest;
  }

  /// Chromium shows of a connection what comes after the start of the request that it is first used
  /// for. If connecting took less than a round trip, it was begun for the last one that started
  /// long enough before; others that started before that were held back.
  void find_hidden_setups() {
    auto& hidden_us = setups_.hidden_us;
    hidden_us.resize(parts_.origins.size());
    auto const shares = [this](std::uint32_t i) {
      auto const& first = setups_.first;
      return uses_another(i) && first[parts_.nodes[i].origin] != i &&
             protocol_of(call(i)) == PredictedProtocol::kH2;
    };
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      if (!shares(i)) continue;
      NodeParts const& node = parts_.nodes[i];
      auto const connect_us = parts_.origins[node.origin].connect_us;
      auto const missing_us = parts_.round_trip_us - kRoundingUs - connect_us;
      if (connect_us == 0 || missing_us <= 0) continue;
      auto& hidden = hidden_us[node.origin];
      bool const is_better = hidden >= missing_us
                                 ? node.hold_us >= missing_us && node.hold_us < hidden
                                 : node.hold_us > hidden;
      if (is_better) hidden = node.hold_us;
    }
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      NodeParts& node = parts_.nodes[i];
      if (shares(i)) node.hold_us = std::max(0.0, node.hold_us - hidden_us[node.origin]);
    }
    for (std::size_t origin = 0; origin < hidden_us.size(); ++origin) {
      ConnectionSetup& setup = parts_.origins[origin];
      auto const missing_us = std::max(parts_.round_trip_us - setup.connect_us, 0.0);
      auto const connecting_us = std::min(hidden_us[origin], missing_us);
      setup.connect_us += connecting_us;
      setup.dns_us += hidden_us[origin] - connecting_us;
    }
  }

  /// The first request to a host that shares another's connection waited for its own look-up if it
  /// was sent clearly later than that connection allowed. No look-up counts as longer than the
  /// longest one that was seen, or a round trip.
  void find_shared_look_ups() {
    std::map<std::size_t, std::uint32_t> first_on;  // by origin
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      if (!is_sent(graph_, placed_, parts_, i)) continue;
      auto const origin = parts_.nodes[i].origin;
      if (!parts_.is_shared(origin)) continue;
      auto& first = first_on.emplace(origin, i).first->second;
      if (placed_[i]->sent_us < placed_[first]->sent_us) first = i;
    }
    auto longest_us = parts_.round_trip_us;
    for (SetupPhase const& phase : setups_.phases) {
      if (phase.part == &ConnectionSetup::dns_us)
        longest_us = std::max(longest_us, phase.length_us);
    }
    for (auto const& [origin, i] : first_on) {
      auto const& connected = setups_.first[parts_.shared_by(origin)];
      auto could_us = placed_[i]->start_us;
      if (connected) could_us = std::max(could_us, placed_[*connected]->sent_us);
      auto const waited_us = static_cast<double>(placed_[i]->sent_us - could_us);
      auto const asked_us = static_cast<double>(placed_[i]->start_us) + parts_.nodes[i].hold_us;
      bool const looked_up = waited_us >= parts_.round_trip_us / 2;
      setups_.first[origin] = looked_up ? i : connected;
      if (!looked_up) continue;
      auto const dns_us = static_cast<double>(placed_[i]->sent_us) - asked_us;
      parts_.origins[origin].dns_us = std::min(dns_us, longest_us);
    }
  }

  /// What a look-up waited for in the link's queue counts as the first one's. One that took less
  /// than a round trip was answered, or under way, before.
  void find_nameless() {
    for (std::uint32_t i = 0; i < parts_.nodes.size(); ++i) {
      NodeParts& node = parts_.nodes[i];
      if (!node.is_local || !is_nameless(call(i))) continue;
      auto const whole_us = static_cast<double>(placed_[i]->end_us - placed_[i]->start_us);
      if (whole_us < parts_.round_trip_us) continue;
      if (whole_us >= 2 * parts_.round_trip_us) node.second_look_up_us = parts_.round_trip_us;
      node.own_setup.dns_us = whole_us - node.second_look_up_us;
      setups_.phases.push_back({.node = i,
                                .part = &ConnectionSetup::dns_us,
                                .start_us = placed_[i]->start_us,
                                .length_us = node.own_setup.dns_us});
    }
  }

  /// Of another request. After `own_setup` went to the origin, also the one that made its first
  /// one.
  bool uses_another(std::uint32_t i) const {
    return is_sent(graph_, placed_, parts_, i) && parts_.nodes[i].own_setup.sum() == 0;
  }

  const Call& call(std::uint32_t i) const { return load_.calls.calls[placed_[i]->call]; }

  const DependencyGraph& graph_;
  const ObservedPage& load_;
  const PlacedLoad& placed_;
  LoadParts& parts_;
  LoadSetups setups_;
  std::vector<Phases> phases_;  ///< by call
  /// By URL's origin and connection.
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> origins_;
  std::map<std::string_view, std::size_t>
      first_of_;  ///< by URL's origin, that of its first request
};

}  // namespace

bool is_sent(const DependencyGraph& graph, const PlacedLoad& placed, const LoadParts& parts,
             std::uint32_t node) {
  return placed[node] && graph.nodes[node].kind == DependencyNodeKind::kRequest &&
         !parts.nodes[node].is_local;
}

PredictedProtocol protocol_of(const Call& request) {
  auto const protocol = request.attribute("protocol");
  return protocol.starts_with("http/1") ? PredictedProtocol::kH1 : PredictedProtocol::kH2;
}

LoadSetups read_setups(const DependencyGraph& graph, const ObservedPage& load,
                       const PredictionLink& link, const PlacedLoad& placed, LoadParts& parts) {
  return SetupReader(graph, load, placed, parts).run(link);
}

}  // namespace reprise
