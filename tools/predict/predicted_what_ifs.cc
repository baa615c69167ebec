#include "tools/predict/predicted_what_ifs.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "analysis/prediction/load_plan.h"
#include "base/http/url_parts.h"
#include "proxy/whatif/page_requests.h"
#include "proxy/whatif/reply_changes.h"
#include "tools/predict/answered_nodes.h"
#include "tools/predict/navigation.h"
#include "tools/predict/nodes_by_host.h"

namespace reprise {
namespace {

using whatif::Intervention;
using whatif::Mention;
using whatif::PageRequest;
using Fault = std::unexpected<std::string>;

std::int64_t us(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

/// The bytes of a session's responses, by the numbers of its requests.
std::map<std::uint64_t, double> bytes_of_responses(const ArchiveReader& archive,
                                                   std::uint32_t session) {
  std::map<std::uint64_t, double> bytes;
  for (std::uint32_t i = 0; i < archive.entries().size(); ++i) {
    if (archive.entries()[i].session != session) continue;
    if (auto const exchange = archive.exchange(i)) {
      bytes[exchange->sequence] = static_cast<double>(exchange->response.body.size_bytes);
    }
  }
  return bytes;
}

class WhatIfTranslation {
 public:
  WhatIfTranslation(const MadeWhatIfs& made, const DependencyGraph& graph,
                    std::span<const ObservedPage> loads)
      : made_(made),
        graph_(graph),
        nodes_(graph, loads),
        recorded_(whatif::PageRequests::read(made.recorded, made.session, made.interventions)),
        answered_(answered_nodes(graph, recorded_.all())),
        navigation_(navigation_to(made.page, recorded_, made.recorded)),
        changes_(graph.nodes.size()) {}

  std::expected<PredictedChange, std::string> run() && {
    find_gone_hosts();
    if (auto why = take_all(); !why.empty()) return Fault(std::move(why));
    if (auto why = share_protocol(); !why.empty()) return Fault(why);
    move_away();
    add_bytes();
    for (std::uint32_t i = 0; i < changes_.size(); ++i) {
      out_.change.parts.push_back({.nodes = {i}, .change = changes_[i], .think_draws_us = {}});
    }
    add_draws();
    if (absent_ > 0) {
      out_.remarks.push_back(std::to_string(absent_) +
                             " of the changed requests occur in too few loads to be predicted");
    }
    auto const image = largest_image(graph_);
    if (image && (changes_[*image].drop || changes_[*image].refused)) {
      out_.remarks.emplace_back(
          "what is painted largest is dropped. What is then the largest is not known: it is taken "
          "to come with the first contentful paint");
    }
    return std::move(out_);
  }

 private:
  /// The requests that a replay answers with this recorded one; none if too few loads have them.
  const std::set<std::uint32_t>& answered_by(const PageRequest& request) const {
    return answered_[static_cast<std::size_t>(&request - recorded_.all().data())];
  }

  /// Conditions select among the requests that the other what-ifs have left, as in a replay.
  std::string take_all() {
    for (PageRequest const& request : recorded_.all()) {
      if (auto why = take_selecting(request, request.by, false); !why.empty()) return why;
    }
    if (&made_.after == &made_.recorded) {
      for (PageRequest const& request : recorded_.all()) {
        if (auto why = take_selecting(request, request.by, true); !why.empty()) return why;
      }
      return {};
    }
    std::map<std::uint64_t, const PageRequest*> by_sequence;
    for (PageRequest const& request : recorded_.all()) by_sequence[request.sequence] = &request;
    auto const left =
        whatif::PageRequests::read(made_.after, session_of(made_.after), made_.interventions);
    for (PageRequest const& request : left.all()) {
      auto const recorded = by_sequence.find(request.sequence);
      if (recorded == by_sequence.end()) continue;
      if (auto why = take_selecting(*recorded->second, request.by, true); !why.empty()) return why;
    }
    return {};
  }

  /// Of `by`, those that are conditions, or those that are not.
  std::string take_selecting(const PageRequest& request, std::span<const std::size_t> by,
                             bool conditions) {
    for (std::size_t const each : by) {
      Intervention const& intervention = made_.interventions[each];
      if (each < made_.first || intervention.is_condition() != conditions) continue;
      if (auto why = take(request, each); !why.empty()) {
        return "cannot predict --what-if '" + intervention.text + "': " + why;
      }
    }
    return {};
  }

  /// A changed copy has one session.
  std::uint32_t session_of(const ArchiveReader& archive) const {
    return &archive == &made_.recorded ? made_.session : archive.sessions().front().number;
  }

  /// Why the model does not have it; empty: it does.
  std::string take(const PageRequest& request, std::size_t by) {
    Intervention const& intervention = made_.interventions[by];
    if (intervention.is_condition() && !request.is_answered) return {};
    auto const& nodes = answered_by(request);
    if (nodes.empty()) ++absent_;
    if (auto const* const think = intervention.as<whatif::Think>()) {
      if (is_drawn_before(request, *think)) {
        return "a think time that is drawn cannot be multiplied after";
      }
      for (auto const node : nodes) {
        change_think(node, *think);
      }
    } else if (auto const* const away = intervention.as<whatif::FurtherAway>()) {
      if (!hosts_.emplace(by, request.host).second) return {};
      further_us_[request.host] += us(away->by);
    } else if (auto const* const slower = intervention.as<whatif::SlowerName>()) {
      if (!hosts_.emplace(by, request.host).second) return {};
      for (auto const node : nodes_.of_host(request.host)) {
        changes_[node].dns_us += us(slower->by);
      }
    } else if (auto const* const speak = intervention.as<whatif::Speak>()) {
      if (request.scheme != Scheme::kHttps) return {};
      // Of two what-ifs the later one counts, whichever of their requests comes first.
      auto const spoken = spoken_by_.try_emplace(request.host, by).first;
      if (spoken->second > by) return {};
      spoken->second = by;
      if (speak->alpn == "h3") remark("HTTP/3 is predicted as HTTP/2: its set-up is not faster");
      auto const protocol =
          speak->alpn == "http/1.1" ? PredictedProtocol::kH1 : PredictedProtocol::kH2;
      for (auto const node : nodes_.of_host(request.host, Scheme::kHttps)) {
        changes_[node].protocol = protocol;
      }
    } else if (intervention.as<whatif::Coalesce>() != nullptr) {
      if (!can_share_connection(request)) return {};
      for (auto const node : nodes_.of_host(request.host, Scheme::kHttps)) {
        changes_[node].coalesce = true;
      }
      coalesced_.insert(request.host);
    } else if (intervention.as<whatif::Drop>() != nullptr) {
      if (is_page(request)) return "the page itself would be gone";
      bool const gone = gone_hosts_.contains(request.host);
      for (auto const node : nodes) (gone ? changes_[node].drop : changes_[node].refused) = true;
    } else if (intervention.as<whatif::Status>() != nullptr) {
      return why_not_another_body(nodes, request);
    } else if (intervention.as<whatif::Body>() != nullptr) {
      return why_not_another_body(nodes, request);
    } else if (auto const* const cache = intervention.as<whatif::CacheFor>()) {
      if (!whatif::may_be_cached(request.method)) return {};
      return change_cache(nodes, *cache);
    } else if (auto const* const mention = intervention.as<Mention>()) {
      return change_mention(nodes, request, by, mention->kind);
    }
    return {};  // Compress, Resize: by their bytes
  }

  /// Whether it is the page's own document, also one that scripts go to, or a redirect to it.
  bool is_page(const PageRequest& request) const {
    return navigation_.contains(request.sequence) ||
           (request.is_document && request.url == without_fragment(graph_.page));
  }

  /// As a replay sees it (proxy/whatif/conditions.cc).
  bool can_share_connection(const PageRequest& request) const {
    auto const* const page = recorded_.page();
    return page != nullptr && page->scheme == Scheme::kHttps && request.scheme == Scheme::kHttps &&
           page->host != request.host;
  }

  /// Whether a time is to be multiplied that an earlier what-if draws.
  bool is_drawn_before(const PageRequest& request, const whatif::Think& think) {
    if (!think.draws.empty()) {
      drawn_.insert(request.sequence);
    } else if (think.change.kind == ThinkTimeChange::Kind::kSet) {
      drawn_.erase(request.sequence);
    }
    return think.draws.empty() && think.change.kind == ThinkTimeChange::Kind::kMultiply &&
           drawn_.contains(request.sequence);
  }

  void change_think(std::uint32_t node, const whatif::Think& think) {
    NodeChange& change = changes_[node];
    if (!think.draws.empty()) {
      change.think_factor = 0;
      change.think_us = 0;
      draws_[node] = &think;
      return;
    }
    switch (think.change.kind) {
      case ThinkTimeChange::Kind::kSet:
        change.think_factor = 0;
        change.think_us = us(think.change.by);
        draws_.erase(node);
        break;
      case ThinkTimeChange::Kind::kAdd:
        change.think_us += us(think.change.by);
        break;
      case ThinkTimeChange::Kind::kTakeOff:
        change.think_us -= us(think.change.by);
        break;
      case ThinkTimeChange::Kind::kMultiply:
        change.think_factor *= think.change.factor;
        change.think_us =
            static_cast<std::int64_t>(static_cast<double>(change.think_us) * think.change.factor);
        break;
    }
  }

  /// What another response does is not known, but that of an image or font does nothing.
  std::string why_not_another_body(const std::set<std::uint32_t>& nodes,
                                   const PageRequest& request) const {
    auto const asks = [&](const DependencyEdge& edge) {
      return nodes.contains(edge.from) && edge.evidence.named &&
             edge.kind != DependencyKind::kMilestone;
    };
    bool const acts = request.is_document || request.as == "script" || request.as == "style" ||
                      request.as == "fetch" || std::ranges::any_of(graph_.edges, asks);
    return acts ? "what the page does with another response of " + request.url + " is not known"
                : std::string();
  }

  std::string change_cache(const std::set<std::uint32_t>& nodes, const whatif::CacheFor& cache) {
    if (!made_.warm_cache) {
      remark("With a cold cache, cache= changes nothing; --cache warm does");
      return {};
    }
    if (cache.age.count() == 0) return "how long it takes what comes from the cache is not known";
    for (auto const node : nodes) changes_[node].cached = true;
    return {};
  }

  std::string change_mention(const std::set<std::uint32_t>& nodes, const PageRequest& request,
                             std::size_t by, Mention::Kind kind) {
    using enum Mention::Kind;
    if (kind == kLazy) return "the model does not know what is in view";
    if (!made_.effects[by].mentioned.contains(request.url)) return {};
    for (auto const node : nodes) {
      NodeChange& change = changes_[node];
      if (kind == kPreload) change.preload = true;
      if (kind == kEarlyHints) change.early_hints = true;
      // A font that is preloaded is not known to be needed for the first paint.
      bool const is_early = kind == kPreload || kind == kEarlyHints;
      if (is_early && request.as == "font") change.urgency = kUrgencyHigh;
      if (kind == kInline) change.at_hand = true;
      if (kind == kAsync) change.loading = ScriptLoading::kAsync;
      if (kind == kDefer) change.loading = ScriptLoading::kDefer;
      if (kind == kPriorityHigh) change.urgency = kUrgencyHigh;
      if (kind == kPriorityLow) change.urgency = kUrgencyLow;
    }
    if (kind == kPreconnect) {
      for (auto const node : nodes_.of_host(request.host, request.scheme)) {
        changes_[node].preconnect = true;
      }
    }
    return {};
  }

  /// Hosts whose name is unknown because all of their answered requests are dropped.
  void find_gone_hosts() {
    std::set<std::string> present;
    for (PageRequest const& request : recorded_.all()) {
      bool const dropped = std::ranges::any_of(request.by, [this](std::size_t by) {
        return made_.interventions[by].as<whatif::Drop>() != nullptr;
      });
      if (dropped) gone_hosts_.insert(request.host);
      if (!dropped && request.is_answered) present.insert(request.host);
    }
    std::erase_if(gone_hosts_, [&](const std::string& host) { return present.contains(host); });
  }

  /// Only HTTP/2 connections can be shared: what uses the page's connection speaks it, whatever its
  /// own host speaks. Why a replay would refuse; empty: it would not.
  std::string share_protocol() {
    bool shares = false;
    for (NodeChange& change : changes_) {
      if (change.coalesce) change.protocol = PredictedProtocol::kH2;
      shares = shares || change.coalesce;
    }
    if (!shares) return {};
    auto const& page = recorded_.page()->host;  // can_share_connection() saw it
    for (auto const node : nodes_.of_host(page, Scheme::kHttps)) {
      auto const& protocol = changes_[node].protocol;
      bool const is_http1 = protocol ? protocol == PredictedProtocol::kH1
                                     : made_.http1.value_or(nodes_.speaks_http1(node));
      if (!is_http1) continue;
      return "cannot predict --what-if coalesce: " + page +
             " speaks HTTP/1.1, over which hosts cannot share a connection; add --what-if 'host=" +
             page + ": protocol=h2'";
    }
    return {};
  }

  /// What is said of a host adds up; hosts that share an address are as far away as the furthest of
  /// them, and coalesced ones have the page's (tools/serve/what_if.cc).
  void move_away() {
    auto const* const page = recorded_.page();
    auto const page_host = page == nullptr ? std::string() : page->host;
    for (auto const& [host, by_us] : further_us_) {
      for (auto const node : nodes_.at_addresses_of(host, page_host, coalesced_)) {
        changes_[node].rtt_us = std::max(changes_[node].rtt_us, by_us);
      }
    }
  }

  /// A part for all nodes whose think times come from the same file.
  void add_draws() {
    std::map<const whatif::Think*, PageChange::Part> parts;
    for (auto const& [node, think] : draws_) {
      auto& part = parts[think];
      part.nodes.push_back(node);
      if (part.nodes.size() > 1) continue;
      for (auto const draw : think->draws) part.think_draws_us.push_back(us(draw));
    }
    for (auto& [think, part] : parts) out_.change.parts.push_back(std::move(part));
  }

  void add_bytes() {
    if (&made_.before == &made_.after) return;
    auto const before = bytes_of_responses(made_.before, session_of(made_.before));
    auto const after = bytes_of_responses(made_.after, session_of(made_.after));
    for (PageRequest const& request : recorded_.all()) {
      auto const then = before.find(request.sequence);
      auto const now = after.find(request.sequence);
      if (then == before.end() || now == after.end()) continue;
      for (auto const node : answered_by(request)) {
        NodeChange& change = changes_[node];
        if (!change.drop && !change.refused) change.bytes_added += now->second - then->second;
      }
    }
  }

  void remark(std::string text) {
    if (std::ranges::find(out_.remarks, text) == out_.remarks.end()) {
      out_.remarks.push_back(std::move(text));
    }
  }

  const MadeWhatIfs& made_;
  const DependencyGraph& graph_;
  NodesByHost nodes_;
  whatif::PageRequests recorded_;
  std::vector<std::set<std::uint32_t>> answered_;  ///< by the places of `recorded_`
  std::set<std::uint64_t> navigation_;             ///< to the page, by sequence
  std::vector<NodeChange> changes_;
  std::map<std::uint32_t, const whatif::Think*> draws_;
  std::set<std::uint64_t> drawn_;                   ///< the recorded requests of these, by sequence
  std::map<std::string, std::int64_t> further_us_;  ///< by host
  std::set<std::pair<std::size_t, std::string>> hosts_;
  std::map<std::string, std::size_t> spoken_by_;  ///< by host: what gave it its protocol
  std::set<std::string> gone_hosts_, coalesced_;
  std::size_t absent_ = 0;
  PredictedChange out_;
};

}  // namespace

std::expected<PredictedChange, std::string> predicted_what_ifs(
    const MadeWhatIfs& made, const DependencyGraph& graph, std::span<const ObservedPage> loads) {
  return WhatIfTranslation(made, graph, loads).run();
}

}  // namespace reprise
