#include "tools/predict/predicted_change.h"

#include <chrono>
#include <map>
#include <memory>

#include "analysis/prediction/changed_graph.h"
#include "archive/match/match.h"
#include "base/http/url_parts.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "proxy/http/h2_session.h"
#include "proxy/listening_socket.h"
#include "shaper/profile.h"
#include "tools/archive/errors.h"

namespace reprise {
namespace {

using Fault = std::unexpected<std::string>;

/// Of a full packet, the part that HTTP gets: 1,448 bytes of 1,500.
constexpr double kPayloadShare = 1448. / 1500;

std::int64_t whole_us(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

std::expected<LinkProfile, std::string> profile_of(const ExperimentSide& side) {
  return parse_link(side.cells().front().configuration.link);
}

bool is_steady(const LinkProfile& link) {
  return link.down.trace == nullptr && link.up.trace == nullptr && link.down.outages.off.empty() &&
         link.up.outages.off.empty();
}

std::string rate_text(std::uint64_t rate_bps) {
  return rate_bps == 0 ? "no limit"
                       : formatted("%.10g kbit/s", static_cast<double>(rate_bps) / 1e3);
}

std::string queue_text(const QueueLimit& queue) {
  std::string text;
  if (queue.packets > 0) text = counted(queue.packets, "packet");
  if (queue.bytes > 0) text += (text.empty() ? "" : " and ") + counted(queue.bytes, "byte");
  return text.empty() ? "no limit" : text;
}

/// What else is different on the other link: the model has none of it.
void remark_link(const LinkProfile& from, const LinkProfile& to,
                 std::vector<std::string>& remarks) {
  if (from.up.rate_bps != to.up.rate_bps) {
    remarks.push_back("the link's rate from the client changes from " +
                      rate_text(from.up.rate_bps) + " to " + rate_text(to.up.rate_bps) +
                      ": how long requests wait for it is not predicted, but measured by "
                      "--measure");
  }
  auto const remark_queue = [&](const char* way, const QueueLimit& before,
                                const QueueLimit& after) {
    if (before == after) return;
    remarks.push_back(std::string("the link's queue ") + way + " the client changes from " +
                      queue_text(before) + " to " + queue_text(after) +
                      ": which packets it has no room for is not predicted, but measured by "
                      "--measure");
  };
  remark_queue("to", from.down.queue, to.down.queue);
  remark_queue("from", from.up.queue, to.up.queue);
}

/// Why the model cannot go from one link to the other; empty: it can.
std::string change_link(const LinkProfile& from, const LinkProfile& to,
                        const DependencyGraph& graph, PredictedChange& out) {
  if (from == to) return {};
  if (!is_steady(from) || !is_steady(to)) {
    return "the model has no links whose rate changes";
  }
  auto const rest = [](LinkSettings settings) {
    settings.rate_bps = 0;
    settings.delay = {};
    settings.queue = {};
    return settings;
  };
  if (rest(from.down) != rest(to.down) || rest(from.up) != rest(to.up)) {
    return "the model has no losses, jitter, bursts and queue disciplines, and those of the links "
           "differ";
  }
  if ((from.down.rate_bps == 0) != (to.down.rate_bps == 0)) {
    return "the model cannot add or remove the limit of a link's rate; load with --link "
           "DOWN/UP/RTT";
  }
  if (from.down.rate_bps > 0) {
    out.change.link_factor =
        static_cast<double>(to.down.rate_bps) / static_cast<double>(from.down.rate_bps);
  }
  auto const further = whole_us(to.rtt()) - whole_us(from.rtt());
  if (out.change.link_factor == 1 && further == 0) {
    return "the model has the rate to the client and the round trip of a link, which are the same";
  }
  out.change.parts.push_back(
      {.nodes = all_nodes(graph), .change = {.rtt_us = further, .dns_us = further}});
  remark_link(from, to, out.remarks);
  return {};
}

/// Before the what-ifs of single hosts, which hold whatever the page's protocol is.
void change_protocol(const std::string& to, const DependencyGraph& graph, PageChange& change) {
  PageChange::Part part{
      .nodes = {},
      .change = {.protocol = to == "h1" ? PredictedProtocol::kH1 : PredictedProtocol::kH2}};
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    bool const has_tls = graph.nodes[i].kind == DependencyNodeKind::kRequest &&
                         url_parts(graph.nodes[i].name).scheme == "https";
    if (has_tls) part.nodes.push_back(i);
  }
  change.parts.insert(change.parts.begin(), std::move(part));
}

/// Adds what link and protocol change. Returns why the model cannot say it.
std::string change_conditions(const ExperimentSide& base, const ExperimentSide& changed,
                              const DependencyGraph& graph, PredictedChange& out) {
  auto const& from = base.cells().front().configuration;
  auto const& to = changed.cells().front().configuration;
  if (from.browser != to.browser) return "the model does not know another browser";
  if (from.cache != to.cache) return "the model does not know what another cache has";
  if (from.link != to.link) {
    auto const before = profile_of(base);
    auto const after = profile_of(changed);
    if (!before) return before.error();
    if (!after) return after.error();
    auto why = change_link(*before, *after, graph, out);
    if (!why.empty()) return "cannot predict the link " + to.link + ": " + why;
  }
  if (from.protocol != to.protocol) {
    if (from.protocol.starts_with("h3") || to.protocol.starts_with("h3")) {
      return "the model does not tell HTTP/3 from HTTP/2; measure it: reprise gate";
    }
    if (to.protocol == "recorded") return "the model does not know the recorded protocols";
    change_protocol(to.protocol, graph, out.change);
  }
  return {};
}

void change_processor(const ExperimentSide& base, const ExperimentSide& changed,
                      std::optional<double> slowdown, const DependencyGraph& graph,
                      PageChange& change) {
  auto const throttle =
      changed.result().settings.cpu_throttle / base.result().settings.cpu_throttle;
  if (throttle == 1) return;
  change.parts.push_back(
      {.nodes = all_nodes(graph), .change = {.cpu_factor = slowdown.value_or(throttle)}});
}

/// Of a replay over HTTP/2 behind a packet link: it frames more once the socket has taken what was
/// framed before.
WriteAhead write_ahead() {
  constexpr double kSocketBytes = kUnsentBytesMaxBehindLink;
  return {.bytes_max = kSocketBytes + H2Session::kGatherBytes, .bytes_left = kSocketBytes};
}

}  // namespace

std::expected<PredictedChange, std::string> predicted_change(const ExperimentSide& base,
                                                             const ExperimentSide& changed,
                                                             const DependencyGraph& graph,
                                                             std::span<const ObservedPage> loads,
                                                             std::optional<double> slowdown) {
  PredictedChange out;
  if (changed.effects().size() > base.effects().size()) {
    auto const interventions = whatif::parse_interventions(changed.what_if_options().texts);
    if (!interventions) return Fault(interventions.error());
    auto const open = [](const std::filesystem::path& path) {
      auto reader = ArchiveReader::open(path, {});
      return reader ? std::expected<std::unique_ptr<ArchiveReader>, std::string>(std::move(*reader))
                    : Fault(archive_error_text(path, reader.error()));
    };
    auto const recorded = open(base.archive());
    if (!recorded) return Fault(recorded.error());
    std::map<std::filesystem::path, std::unique_ptr<ArchiveReader>> others;
    auto const served = [&](const ExperimentSide& side) -> const ArchiveReader* {
      auto const& path = side.what_if().path();
      if (path == side.archive()) return recorded->get();
      auto reader = open(path);
      if (!reader) return nullptr;
      return (others[path] = std::move(*reader)).get();
    };
    auto const* const before = served(base);
    auto const* const after = served(changed);
    if (before == nullptr || after == nullptr) return Fault("a changed archive cannot be read");
    auto const asked = base.what_if_options().session;
    auto const& protocol = changed.cells().front().configuration.protocol;
    std::optional<bool> http1;
    if (protocol != "recorded") http1 = protocol == "h1";
    auto made =
        predicted_what_ifs({.recorded = **recorded,
                            .session = asked == 0 ? session_to_replay(**recorded) : asked,
                            .page = base.cells().front().url,
                            .before = *before,
                            .after = *after,
                            .interventions = *interventions,
                            .first = base.effects().size(),
                            .effects = changed.effects(),
                            .warm_cache = base.cells().front().configuration.cache == "warm",
                            .http1 = http1},
                           graph, loads);
    if (!made) return made;
    out = std::move(*made);
  }
  if (auto why = change_conditions(base, changed, graph, out); !why.empty()) {
    return Fault(std::move(why));
  }
  change_processor(base, changed, slowdown, graph, out.change);
  if (auto const scripts = scripts_before_inline_ones(graph, out.change); !scripts.empty()) {
    out.remarks.push_back("scripts in the document run after " + counted(scripts.size(), "script") +
                          " that would be loaded otherwise, such as " +
                          printable(graph.nodes[scripts.front()].name) +
                          ": if one needs it, the page fails, which is not predicted, but "
                          "measured by --measure");
  }
  return out;
}

PredictionLink prediction_link(const ExperimentSide& side) {
  auto const link = profile_of(side);
  if (!link || !is_steady(*link)) return {};
  // A socket of HTTP/3 has nothing that is not sent.
  bool const is_tcp = !side.cells().front().configuration.protocol.starts_with("h3");
  return {.bytes_per_second = static_cast<double>(link->down.rate_bps) / 8 * kPayloadShare,
          .rtt_us = whole_us(link->rtt()),
          .ahead = is_tcp ? write_ahead() : WriteAhead()};
}

}  // namespace reprise
