#include "analysis/sources/archive_calls.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "analysis/sources/archive_traces.h"
#include "analysis/sources/request_call.h"
#include "analysis/spans/server_calls.h"
#include "base/http/media_type.h"
#include "base/http/resource_type.h"

namespace reprise {
namespace {

constexpr std::string_view kTimeless = "exchanges without recorded times, skipped";

std::string field_of(const Headers& headers, std::string_view name) {
  return std::string(find_header(headers.list(), name).value_or(""));
}

/// DevTools' word for what the browser asked for; empty if it is unknown.
std::string type_of(const Exchange& exchange) {
  auto const type = resource_type(exchange);
  return type == ResourceType::kOther ? "" : std::string(devtools_name(type));
}

/// What all sessions of an archive share.
struct ArchiveFacts {
  explicit ArchiveFacts(const ArchiveReader& archive) : traces(archive) {
    for (ConnectionFacts const& facts : archive.connections()) {
      connections.emplace(std::pair(facts.session, facts.id), &facts);
    }
  }

  ArchiveTraces traces;
  TraceNames names;
  /// By session and number.
  std::map<std::pair<std::uint32_t, std::uint64_t>, const ConnectionFacts*> connections;
};

/// Collects the exchanges of one session.
class SessionCalls {
 public:
  /// `facts` outlives this.
  explicit SessionCalls(ArchiveFacts& facts) : facts_(facts) {}

  void take(Exchange exchange) {
    if (exchange.timings.queued == kNoTime) {
      tree_.lose(kTimeless);
    } else {
      exchanges_.push_back(std::move(exchange));
    }
  }
  void lose_damaged() { tree_.lose("damaged exchanges, skipped"); }

  CallTree finish(const SessionInfo* info) && {
    std::ranges::sort(exchanges_, {}, [](const Exchange& each) {
      return std::pair(each.timings.queued, each.sequence);
    });
    if (!exchanges_.empty()) start_ = exchanges_.front().timings.queued;
    if (info != nullptr) {
      auto const started = info->started.time_since_epoch() + start_;
      tree_.started_unix_ms = std::chrono::duration<double, std::milli>(started).count();
      if (!info->pages.empty()) tree_.page = info->pages.front();
    }
    if (tree_.page.empty() && !exchanges_.empty()) tree_.page = url_of(exchanges_.front().request);
    for (Exchange const& exchange : exchanges_) add(exchange);
    end_with_last_call(tree_);
    normalize(tree_);
    return std::move(tree_);
  }

 private:
  std::int64_t us(SessionTime time) const {
    if (time == kNoTime || time < start_) return RequestTimes::kUnknown;
    return std::chrono::duration_cast<std::chrono::microseconds>(time - start_).count();
  }

  /// The connection's own phases belong to the first request on it, if they came after its start.
  RequestTimes times_of(const Exchange& exchange) {
    Timings const& at = exchange.timings;
    RequestTimes times{.send_end = us(at.request_sent), .first_byte = us(at.first_byte)};
    auto const found = facts_.connections.find({exchange.session, exchange.origin_connection_id});
    if (found == facts_.connections.end()) return times;
    if (!connected_.insert(exchange.origin_connection_id).second) return times;
    ConnectionFacts const& connection = *found->second;
    times.dns_start = us(connection.dns_start);
    times.connect_start = us(connection.connect_start);
    times.dns_end = times.connect_start;
    times.tls_start = us(connection.tls_start);
    times.connect_end = us(connection.ready);
    return times;
  }

  void add(const Exchange& exchange) {
    if (facts_.traces.was_fetched(exchange)) return;
    auto const trace = facts_.traces.of(exchange);
    Call call{.name = url_of(exchange.request), .start_us = us(exchange.timings.queued)};
    auto const end =
        exchange.timings.end == kNoTime ? exchange.timings.first_byte : exchange.timings.end;
    if (exchange.timings.end == kNoTime) tree_.lose("exchanges without an end");
    call.end_us = std::max(us(end), call.start_us);
    auto const& response = exchange.response;
    call.set("method", exchange.request.method);
    if (response.status > 0) call.set("status", std::to_string(response.status));
    set_if_any(call, "type", type_of(exchange));
    set_if_any(call, "mime", media_type(response.headers.list()));
    set_if_any(call, "protocol", lower_case(to_string(response.version)));  // as in ALPN
    set_if_any(call, "initiator", field_of(exchange.request.headers, "referer"));
    set_if_any(call, "cdn", cdn_answer(response.headers.list()));
    set_if_any(call, "cache-control", field_of(response.headers, "cache-control"));
    set_if_any(call, "content-encoding", field_of(response.headers, "content-encoding"));
    set_if_any(call, "failure", exchange.failure);
    set_if_any(call, "traceparent", field_of(exchange.request.headers, "traceparent"));
    call.set("bytes", std::to_string(response.body.size_bytes));
    auto const request = static_cast<std::uint32_t>(tree_.calls.size());
    add_request(tree_, std::move(call), times_of(exchange));
    add_server_calls(tree_, request, wait_of(tree_, request), facts_.names, response.headers.list(),
                     response.trailers.list(), trace.trace.get());
    if (trace.error.empty() || !tree_.calls[request].attribute("trench-error").empty()) return;
    tree_.calls[request].set("trench-error", trace.error);
    tree_.lose("fetched traces that cannot be read");
  }

  ArchiveFacts& facts_;
  std::set<std::uint64_t> connected_;
  std::vector<Exchange> exchanges_;
  SessionTime start_{};
  CallTree tree_;
};

}  // namespace

std::vector<SessionCallTree> calls_of(const ArchiveReader& archive, std::vector<CallLoss>& losses) {
  ArchiveFacts facts(archive);
  std::map<std::uint32_t, SessionCalls> sessions;
  auto const entries = archive.entries();
  for (std::uint32_t ordinal = 0; ordinal < entries.size(); ++ordinal) {
    auto const number = entries[ordinal].session;
    auto const session = sessions.try_emplace(number, facts).first;
    if (auto exchange = archive.exchange(ordinal)) {
      session->second.take(std::move(*exchange));
    } else {
      session->second.lose_damaged();
    }
  }
  std::vector<SessionCallTree> trees;
  std::size_t place = 0;
  for (auto& [number, session] : sessions) {
    auto const info = std::ranges::find(archive.sessions(), number, &SessionInfo::number);
    auto tree = std::move(session).finish(info == archive.sessions().end() ? nullptr : &*info);
    if (tree.calls.empty()) {
      losses.insert(losses.end(), tree.losses.begin(), tree.losses.end());
    } else {
      trees.push_back({.place = place, .tree = std::move(tree)});
    }
    ++place;
  }
  return trees;
}

}  // namespace reprise
