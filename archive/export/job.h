#pragma once

// The export of one session of an archive to one file: shared by the writers of all formats.

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/export/export.h"

namespace reprise::exporting {

/// Not thread-safe. Ends permanently at the first fault.
class Job {
 public:
  Job(const ArchiveReader& archive, const ExportOptions& options, ExportReport& report);

  const SessionInfo& session() const { return session_; }
  ExportReport& report() { return report_; }
  const ExportOptions& options() const { return options_; }
  /// The number of exchanges in the session; they are identified by their position.
  std::size_t size() const { return ordinals_.size(); }

  /// Nothing if it is damaged, which is a fault, or if the export was stopped.
  std::optional<Exchange> read(std::size_t position);
  /// Calls `take` with all bytes of `body` in order; false if it is damaged, which is a fault.
  bool visit(const StoredBody& body, const std::function<void(std::string_view)>& take);
  /// Calls `take` with the messages of the WebSocket that `exchange` opened, and with pieces of
  /// long ones; false if one is damaged, which is a fault.
  bool visit_messages(const Exchange& exchange,
                      const std::function<void(const WebSocketMessage&)>& take);
  /// Null if unknown.
  const ConnectionFacts* connection_of(const Exchange& exchange) const;

  /// Nanoseconds since 1970; nothing if `time` is unknown.
  std::optional<std::int64_t> unix_time(SessionTime time) const;
  std::int64_t session_start() const;
  /// The one asked for, or the session's start.
  std::chrono::milliseconds time_seed() const;

  void fail(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
  }
  bool failed() const { return fault_.has_value(); }
  const std::optional<Fault>& fault() const { return fault_; }

  /// Counts the data that no target can hold, and the exchange as written.
  void count(const Exchange& exchange);
  /// Counts the messages of its WebSocket: the target cannot hold them.
  void lose_messages(const Exchange& exchange);
  /// Counts all connections: the target does not distinguish them.
  void lose_connections() { report_.lose(Loss::kConnections, connections_.size()); }

 private:
  void damaged();

  const ArchiveReader& archive_;
  const ExportOptions& options_;
  ExportReport& report_;
  SessionInfo session_;
  std::vector<std::uint32_t> ordinals_;
  std::size_t first_number_ = 1;  ///< the number in `ls` of the session's first exchange
  std::size_t at_ = 0;
  std::unordered_map<std::uint64_t, const ConnectionFacts*> connections_;
  std::optional<Fault> fault_;
};

/// "2018-04-05T00:01:06.248Z", with as many decimals (3, 6 or 9) as needed.
std::string time_text(std::int64_t unix_ns);
/// The address of an origin without its port and brackets; empty if it was not recorded.
std::string address_of(const ConnectionFacts* facts);
/// Whether a response has a body by its nature (RFC 9110 section 6.4.1).
bool may_have_content(const Exchange& exchange);
/// The method over HTTP/1.1, where the handshake of a WebSocket is a GET.
std::string_view method_of(const StoredRequest& request);
/// "https://example.org:8443/path?query" in valid URL characters, with "/" for an empty path.
std::string safe_url(const StoredRequest& request);

void write_har(Job& job, Output& to);
void write_warc(Job& job, Output& to);
void write_wprgo(Job& job, Output& to);

}  // namespace reprise::exporting
