#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "archive/writer.h"
#include "dns/resolver.h"
#include "inject/rewrite.h"
#include "proxy/connection.h"
#include "proxy/record/origin_dialer.h"
#include "proxy/record/request_rules.h"
#include "proxy/record/trace_context.h"

namespace reprise {

/// One recorded session: the archive, the numbering and the clock, shared by all its connections.
/// Used on the one thread that records; any thread may read the counters.
class RecordSession final : public HandlerFactory {
 public:
  struct Counters {
    std::atomic<std::uint64_t> complete = 0;
    std::atomic<std::uint64_t> cut = 0;     ///< by client or origin, kept as cut
    std::atomic<std::uint64_t> failed = 0;  ///< the origin gave no response
    std::atomic<std::uint64_t> body_bytes = 0;
    std::atomic<std::uint64_t> in_flight = 0;
    std::atomic<std::uint64_t> blocked = 0;          ///< by the user's filters; failed, too
    std::atomic<std::uint64_t> private_refused = 0;  ///< requests of public pages, by PrivateReach
    std::atomic<std::uint64_t> traces = 0;           ///< fetched by their URL, and archived
    std::atomic<std::uint64_t> traces_refused = 0;   ///< not fetched, or not completely
    std::atomic<std::uint64_t> injected = 0;       ///< documents forwarded with the script in them
    std::atomic<std::int64_t> injected_bytes = 0;  ///< by which the script made them longer
  };

  /// Of traces that are fetched by their URL.
  struct TraceLimits {
    std::chrono::milliseconds time{4000};  ///< of one; less than Server::kEndingTime
    std::size_t bytes = std::size_t{16} << 20;
    std::size_t all_bytes = std::size_t{256} << 20;  ///< of the session's together
  };

  /// `on_archive_error` is called if the archive accepts no more data (a full disk): its contents
  /// are complete, and recording should stop. `script` goes into documents on their way to the
  /// client; the archive has the originals.
  RecordSession(ArchiveWriter& archive, OriginDialer& dialer,
                std::chrono::steady_clock::time_point started,
                std::function<void(std::error_code)> on_archive_error,
                std::optional<inject::InjectedScript> script = std::nullopt,
                const PrivateReach::Options& reach = {});
  /// Ends the archive's session and begins one like it, as if the recording started now: `info` is
  /// that of the first. Connections that are open stay; those whose facts are held are known in the
  /// new session, too. Further messages of WebSockets are not archived. If the archive cannot begin
  /// one, nothing is archived from then on.
  void begin_again(const SessionInfo& info);
  /// From now on, requests are changed or blocked so. Before the first connection.
  void change_requests(RequestRules rules) { rules_ = std::move(rules); }
  /// Requests of pages' own sites get a trace from now on.
  void add_traces(std::uint64_t seed) { traces_.emplace(seed); }
  /// Traces of which responses have only a URL are fetched from now on.
  void fetch_traces(const TraceLimits& limits) { trace_limits_ = limits; }

  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override;

  ArchiveWriter& archive() { return archive_; }
  /// Null if none is injected.
  const inject::InjectedScript* script() const { return script_ ? &*script_ : nullptr; }
  OriginDialer& dialer() { return dialer_; }
  PrivateReach& reach() { return reach_; }
  const RequestRules& rules() const { return rules_; }
  /// Counts a request that the user blocks, and says why; empty: it is sent.
  std::string why_blocked(const RequestHead& request);
  /// Null if none are added.
  TraceContext* traces() { return traces_ ? &*traces_ : nullptr; }
  /// Null if none are fetched.
  const TraceLimits* trace_limits() const { return trace_limits_ ? &*trace_limits_ : nullptr; }
  /// The most that the next trace may have.
  std::size_t trace_bytes_left() const;
  Counters& counters() { return counters_; }

  SessionTime now() const { return time_of(std::chrono::steady_clock::now()); }
  SessionTime time_of(std::chrono::steady_clock::time_point at) const { return at - started_; }
  std::uint64_t next_sequence() { return ++sequence_; }

  /// Archives an exchange. Errors: the archive's; that of begin_again().
  Result<void> add(Exchange exchange);
  /// Numbers and archives the facts about a connection to an origin, made or attempted. The caller
  /// holds them as long as an exchange may refer to them.
  KeptFacts keep(ConnectionFacts facts);
  /// Archives the answer about a name.
  void keep(const dns::LookUpAnswer& answer);
  /// Counts a request whose private address is not permitted; the first one is logged.
  void refuse_private(const std::string& why);
  /// Archives a trace that was fetched: `exchange` without its sequence and its body.
  void keep_trace(Exchange exchange, Bytes content);
  /// Counts a trace that is not in the archive; the first one is logged.
  void refuse_trace(const std::string& why);
  /// Reports the first error of the archive.
  void archive_failed(std::error_code error);

 private:
  ArchiveWriter& archive_;
  OriginDialer& dialer_;
  std::chrono::steady_clock::time_point started_;
  std::function<void(std::error_code)> on_archive_error_;
  std::optional<inject::InjectedScript> const script_;
  PrivateReach reach_;
  RequestRules rules_;
  std::optional<TraceContext> traces_;
  std::optional<TraceLimits> trace_limits_;
  std::size_t trace_bytes_ = 0;
  Counters counters_;
  std::uint64_t sequence_ = 0;
  std::uint64_t origin_connections_ = 0;
  std::vector<std::weak_ptr<const ConnectionFacts>>
      facts_;                      // of those that are held, and some more
  std::error_code archive_error_;  // the first
};

}  // namespace reprise
