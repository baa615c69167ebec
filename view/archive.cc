#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/sources/archive_traces.h"
#include "base/http/media_type.h"
#include "base/http/resource_type.h"
#include "base/http/url_parts.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "base/text/times.h"
#include "view/inputs.h"

namespace json = boost::json;

namespace reprise {
namespace {

std::string_view first_value(const Headers& headers, std::string_view name) {
  return find_header(headers.list(), name).value_or(std::string_view());
}

/// Milliseconds since `start`; an unknown time stays unknown.
double ms_since(SessionTime start, SessionTime time) {
  if (time == kNoTime) return kUnknown;
  return std::chrono::duration<double, std::milli>(time - start).count();
}

std::uint64_t size_of(const Headers& headers) {
  std::uint64_t size = 0;
  for (const HeaderView& field : headers.list()) size += field.name.size() + field.value.size() + 4;
  return size;
}

/// The earliest of some exchanges. One without a time comes after all that have one.
struct FirstExchange {
  std::size_t number = 0;  ///< from 1; 0: nothing was added
  SessionTime start = kNoTime;

  /// Returns whether this one is earlier than all before.
  bool add(std::size_t other, SessionTime other_start) {
    bool const is_earlier = other_start != kNoTime && (start == kNoTime || other_start < start);
    if (number != 0 && !is_earlier) return false;
    number = other;
    start = other_start;
    return true;
  }
};

/// By the URL of their page.
using GraphsByPage = std::map<std::string_view, const DependencyGraph*>;

/// Converts one session to the model.
class SessionView {
 public:
  SessionView(const ArchiveReader& archive, std::uint32_t session, const GraphsByPage& graphs,
              ViewModel& model)
      : model_(model), graphs_(graphs), traces_(archive) {
    for (const ConnectionFacts& facts : archive.connections()) {
      if (facts.session == session) connections_.emplace(facts.id, Connection{&facts});
    }
  }

  /// Finds what was first by the recorded times: files of other tools can have another order. Call
  /// it with all exchanges before add(). A fetched trace is never the first: the response that
  /// names it is older. If it made a connection, no shown request has the times of that.
  void look_at(const Exchange& exchange, std::size_t number) {
    auto const start = start_of(exchange);
    auto const url = url_of(exchange.request);
    if (first_.add(number, start)) first_url_ = url;
    auto const graph = graphs_.find(url);
    if (graph != graphs_.end() && page_.add(number, start)) graph_ = graph->second;
    auto const found = connections_.find(exchange.origin_connection_id);
    if (found != connections_.end()) found->second.first.add(number, start);
    auto const time = first_time(exchange);
    if (time != kNoTime) start_ = std::min(start_.value_or(time), time);
  }

  /// Call it in the order of the archive.
  void add(const Exchange& exchange, std::size_t number) {
    if (traces_.was_fetched(exchange)) {
      ++fetched_traces_;
      return;
    }
    ++count_;
    wire_bytes_ += wire_bytes(exchange);
    write(exchange, number);
  }

  const std::string& first_url() const { return first_url_; }
  /// The graph of the first tested page; null if no page was tested.
  const DependencyGraph* graph() const { return graph_; }
  /// Exchanges that are shown as the traces of others, not as requests.
  std::size_t fetched_traces() const { return fetched_traces_; }
  json::object metrics() const {
    return {{"request_count", count_},
            {"encoded_bytes", wire_bytes_},
            {"connection_count", connections_.size()}};
  }

 private:
  struct Connection {
    const ConnectionFacts* facts = nullptr;
    FirstExchange first = {};
  };
  using Milliseconds = std::chrono::duration<double, std::milli>;

  /// A client's TLS handshake with the recorder ends after that with the origin, by less than this
  /// even on a busy machine. A request that comes later used a connection that was idle.
  static constexpr Milliseconds kClientHandshakeMax{50};

  static SessionTime start_of(const Exchange& exchange) {
    auto const& timings = exchange.timings;
    return timings.queued != kNoTime ? timings.queued : timings.request_sent;
  }

  static std::uint64_t wire_bytes(const Exchange& exchange) {
    return exchange.response.body.size_bytes + size_of(exchange.response.headers);
  }

  /// Whether a request that came at `start` waited for its connection.
  static bool waited(const ConnectionFacts& facts, SessionTime start) {
    if (start == kNoTime) return false;
    return facts.ready == kNoTime ||
           Milliseconds(start) - Milliseconds(facts.ready) <= kClientHandshakeMax;
  }

  /// Of a request, or the look-up for its connection if it waited for that. The smallest one is
  /// zero on the page's time axis.
  SessionTime first_time(const Exchange& exchange) const {
    auto first = start_of(exchange);
    auto const found = connections_.find(exchange.origin_connection_id);
    if (found == connections_.end() || !waited(*found->second.facts, first)) return first;
    for (auto const time : {found->second.facts->dns_start, found->second.facts->connect_start}) {
      if (time != kNoTime) first = std::min(first, time);
    }
    return first;
  }

  double since(SessionTime time) const { return ms_since(start_.value_or(SessionTime{0}), time); }

  void write(const Exchange& exchange, std::size_t number) {
    auto const& timings = exchange.timings;
    auto const url = url_of(exchange.request);
    auto const type = media_type(exchange.response.headers.list());
    auto const connection = exchange.origin_connection_id == 0
                                ? std::string()
                                : std::to_string(exchange.origin_connection_id);
    auto const protocol = to_string(exchange.response.status > 0 ? exchange.response.version
                                                                 : exchange.request.version);
    auto const failure = exchange.failure.empty() && exchange.outcome != Outcome::kComplete
                             ? std::string(to_string(exchange.outcome))
                             : exchange.failure;
    ViewRequest request{.url = url,
                        .method = exchange.request.method,
                        .type = devtools_name(resource_type(exchange)),
                        .protocol = protocol,
                        .connection = connection,
                        .mime_type = type,
                        .priority = first_value(exchange.request.headers, "priority"),
                        .initiator = first_value(exchange.request.headers, "referer"),
                        .failure = failure,
                        .number = static_cast<double>(number),
                        .status = static_cast<double>(exchange.response.status),
                        .encoded_bytes = static_cast<double>(wire_bytes(exchange)),
                        .start_ms = since(start_of(exchange)),
                        .send_end_ms = since(timings.request_sent),
                        .first_byte_ms = since(timings.first_byte),
                        .end_ms = since(timings.end)};
    auto const found = connections_.find(exchange.origin_connection_id);
    if (found != connections_.end()) {
      request.address = found->second.facts->address;
      if (found->second.first.number == number) {
        add_connecting(*found->second.facts, start_of(exchange), request);
      }
    }
    model_.add_request(request);
    add_heads(exchange);
    auto const trace = traces_.of(exchange);
    if (trace.trace) model_.add_trace(*trace.trace);
    if (!trace.error.empty()) model_.add_trace_error(trace.error);
  }

  void add_heads(const Exchange& exchange) {
    const StoredRequest& request = exchange.request;
    const StoredReply& response = exchange.response;
    std::string const version(to_string(request.version));
    ViewHead answer;
    if (response.status > 0) {
      answer.line =
          std::string(to_string(response.version)) + " " + std::to_string(response.status);
      if (!response.reason.empty()) answer.line += " " + response.reason;
      answer.fields = response.headers.list();
    }
    model_.add_heads({.line = request.method + " " + request.target + " " + version,
                      .fields = request.headers.list()},
                     answer);
  }

  /// Adds the times of connecting to the first request on a connection. Connecting may have begun
  /// before the request arrived: with TLS, the client's hello comes first. If the connection was
  /// idle until then, its times are before the request's start, and only show the round trip.
  void add_connecting(const ConnectionFacts& facts, SessionTime start, ViewRequest& request) const {
    request.dns_start_ms = since(facts.dns_start);
    request.dns_end_ms = facts.dns_start == kNoTime ? kUnknown : since(facts.connect_start);
    request.connect_start_ms = since(facts.connect_start);
    request.tls_start_ms = since(facts.tls_start);
    request.connect_end_ms = since(facts.ready);
    if (!waited(facts, start)) return;
    for (double const time : {request.connect_start_ms, request.dns_start_ms}) {
      if (time < request.start_ms) request.start_ms = time;
    }
  }

  ViewModel& model_;
  const GraphsByPage& graphs_;
  ArchiveTraces traces_;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::optional<SessionTime> start_;
  FirstExchange first_;
  std::string first_url_;
  FirstExchange page_;  ///< of those that have a graph
  const DependencyGraph* graph_ = nullptr;
  std::size_t fetched_traces_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t wire_bytes_ = 0;
};

/// The archive's data about a session, without its exchanges.
json::object session_facts(const ArchiveReader& archive, std::uint32_t number) {
  json::object facts = {{"run", number}, {"outcome", "recorded"}};
  auto const& sessions = archive.sessions();
  auto const found = std::ranges::find(sessions, number, &SessionInfo::number);
  if (found != sessions.end()) facts["started"] = utc_time(found->started);
  return facts;
}

json::array session_remarks(const ArchiveReader& archive, std::uint32_t number, std::size_t damaged,
                            std::size_t fetched_traces) {
  json::array remarks;
  auto const& sessions = archive.sessions();
  auto const found = std::ranges::find(sessions, number, &SessionInfo::number);
  if (found == sessions.end()) {
    remarks.emplace_back("The session's start is lost.");
  } else if (!found->complete) {
    remarks.emplace_back("The session is incomplete.");
  }
  if (damaged > 0) {
    remarks.emplace_back(counted(damaged, "exchange is", "exchanges are") +
                         " damaged and not shown.");
  }
  if (fetched_traces > 0) {
    remarks.emplace_back(counted(fetched_traces, "exchange is", "exchanges are") +
                         " shown as the server's trace of another one.");
  }
  return remarks;
}

std::string session_url(const ArchiveReader& archive, std::uint32_t number,
                        const std::string& first_url) {
  auto const& sessions = archive.sessions();
  auto const found = std::ranges::find(sessions, number, &SessionInfo::number);
  bool const has_page = found != sessions.end() && !found->pages.empty();
  return as_utf8(has_page ? found->pages.front() : first_url);
}

}  // namespace

void add_archive(const ArchiveReader& archive, std::string_view name, ViewModel& model,
                 std::span<const DependencyGraph> graphs) {
  GraphsByPage by_page;
  for (DependencyGraph const& graph : graphs) by_page[without_fragment(graph.page)] = &graph;
  json::array remarks;
  for (auto const& remark : archive.report().remarks) remarks.emplace_back(as_utf8(remark));
  model.add_input({{"kind", "archive"},
                   {"name", as_utf8(name)},
                   {"size_bytes", archive.size_bytes()},
                   {"remarks", std::move(remarks)}});
  auto const ordinals = archive.ordinals_in_order();
  auto const entries = archive.entries();
  for (std::size_t begin = 0, end = 0; begin < ordinals.size(); begin = end) {
    auto const session = entries[ordinals[begin]].session;
    model.begin_load(session_facts(archive, session));
    SessionView view(archive, session, by_page, model);
    for (; end < ordinals.size() && entries[ordinals[end]].session == session; ++end) {
      if (auto const exchange = archive.exchange(ordinals[end])) view.look_at(*exchange, end + 1);
    }
    std::size_t damaged = 0;
    for (auto i = begin; i < end; ++i) {
      if (auto const exchange = archive.exchange(ordinals[i])) {
        view.add(*exchange, i + 1);
      } else {
        ++damaged;
      }
    }
    model.use_dependencies(view.graph());
    model.end_load(
        {{"url", session_url(archive, session, view.first_url())},
         {"metrics", view.metrics()},
         {"remarks", session_remarks(archive, session, damaged, view.fetched_traces())}});
    model.use_dependencies(nullptr);
  }
}

}  // namespace reprise
