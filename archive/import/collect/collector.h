#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/import/collect/body_feed.h"
#include "archive/import/collect/http_text.h"
#include "archive/import/collect/sink.h"
#include "archive/import/source/fault.h"

namespace reprise::importing {

/// The result of one import.
struct ImportReport {
  static constexpr std::size_t kRemarksMax = 50;

  std::uint64_t exchanges = 0;
  std::uint64_t bodies = 0;             ///< responses with a body of at least one byte
  std::uint64_t request_bodies = 0;     ///< the same for requests
  std::uint64_t incomplete = 0;         ///< cut, or without their body in the recording: not served
  std::uint64_t failed = 0;             ///< no response
  std::uint64_t unknown_version = 0;    ///< unknown in the recording, or SPDY or the like
  std::uint64_t coded = 0;              ///< bodies with a known Content-Encoding
  std::uint64_t codings_dropped = 0;    ///< of them with a false header, which is dropped
  std::uint64_t codings_broken = 0;     ///< of them that begin as declared, and break off
  std::uint64_t lengths_corrected = 0;  ///< Content-Length did not match the body
  std::uint64_t charsets_corrected = 0;  ///< Content-Type did not say that a text is UTF-8
  std::uint64_t bodies_dropped = 0;     ///< of a 304, a 204, or a response to HEAD, which have none
  std::uint64_t fields_dropped = 0;     ///< that cannot have been sent in this form
  std::uint64_t revisits = 0;           ///< exchanges whose body is in another record
  std::uint64_t revisits_resolved = 0;  ///< of them whose body was found
  std::uint64_t requests_alone = 0;     ///< request records without a response: skipped
  std::uint64_t not_http = 0;           ///< records of other kinds, URLs of other schemes: skipped
  std::uint64_t messages = 0;           ///< of WebSockets
  std::uint64_t websocket_messages = 0;  ///< skipped: unreadable, too many, or not opened
  std::uint64_t too_large = 0;  ///< exchanges over a limit of the archive or of a URL: skipped
  std::uint64_t statuses_assumed = 0;  ///< 200, for responses that a browser took from its cache
  std::uint64_t damaged = 0;           ///< places where a recording is damaged; remarks name them
  std::vector<std::string>
      remarks;  ///< one sentence each; those beyond kRemarksMax are only counted
  std::uint64_t more_remarks = 0;

  void remark(std::string text);
};

/// Nanoseconds since 1970; nothing if the recording does not have it.
using UnixTime = std::optional<std::int64_t>;

/// A message of a WebSocket, as in a recording.
struct MessageDraft {
  MessageSender sender = MessageSender::kClient;
  MessageKind kind = MessageKind::kText;
  UnixTime time;
  std::string payload;
};
inline constexpr std::size_t kMessagePayloadMax = 16 << 20;  ///< per message
inline constexpr std::size_t kMessagesHeldMax = 64 << 20;    ///< per exchange

/// When a connection was made.
struct ConnectTimes {
  UnixTime dns_start, connect_start, tls_start, ready;
};

/// An exchange as in a recording. Defaults mean unknown.
struct ExchangeDraft {
  std::uint64_t sequence = 0;  ///< from Collector::next_sequence(); 0: the next one
  std::string method = "GET";
  Url url;
  HttpVersion request_version = HttpVersion::kUnknown;
  Fields request_fields;
  StoredBody request_body;
  bool request_body_unknown = false;  ///< it had one, but not in the recording

  std::uint16_t status = 0;  ///< 0: there was no response
  std::string reason;
  HttpVersion version = HttpVersion::kUnknown;
  Fields fields;
  std::vector<StoredInterimResponse> interim;
  FoundBody body;
  std::vector<MessageDraft> messages;  ///< of the WebSocket it opened
  bool is_web_socket = false;          ///< it opened one, also if there are no messages
  std::size_t message_bytes = 0;

  Outcome outcome = Outcome::kComplete;
  std::string failure;  ///< why it is incomplete

  UnixTime queued, request_sent, first_byte, end;

  std::string address;     ///< of the origin, without port
  std::string connection;  ///< exchanges with equal text shared a connection
  ConnectionFacts facts;   ///< its ALPN and TLS, if known
  ConnectTimes connect;    ///< if the connection was made for this exchange

  bool asks_for_web_socket() const { return is_web_socket || !messages.empty(); }
};

/// Adds the exchanges of one import to an archive: one session, for any number of files. Corrects
/// contradictions, and counts them. Stops permanently at the first fault.
class Collector {
 public:
  /// `keep_going`: damage() does not stop the import.
  Collector(ExchangeSink& sink, bool keep_going) : sink_(sink), keep_going_(keep_going) {}

  /// `stop` is called after each exchange; if it returns true, that is a fault.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }
  /// Asks `stop` at other times, too. Whether it returned true; that is then a fault.
  bool is_stopped();
  static constexpr std::size_t kPagesMax = 1024;
  static constexpr std::size_t kPageBytesMax = 64 << 10;
  /// Start URLs known before the first exchange, up to these limits.
  void add_pages(std::vector<std::string> pages);
  /// The session's start and tool. Only the first call counts, and only before add().
  void begin(SessionInfo info);
  std::uint64_t next_sequence() { return ++sequence_; }
  void add(ExchangeDraft draft);
  /// Adds a message to an exchange, within the limits.
  void take_message(ExchangeDraft& draft, MessageDraft message);

  ExchangeSink& sink() { return sink_; }
  ImportReport& report() { return report_; }

  /// Keeps the first fault; exchanges added before stay.
  void fail(Fault fault);
  void fail(std::string what) { fail(Fault{.what = std::move(what), .system = {}}); }
  /// Reports damage found in the recording. It is a fault, unless `keep_going`: then it is counted
  /// and named in a remark, and the reader looks for more after it.
  void damage(Fault fault);
  void damage(std::string what) { damage(Fault{.what = std::move(what), .system = {}}); }
  /// Sets the part of a recording that faults name from now on; empty: the whole.
  void stand_in(std::string part) { part_ = std::move(part); }
  /// Whether `result`, the sink's, is a success; its error ends the import.
  template <class T>
  bool took(const Result<T>& result) {
    if (!result) fail(Fault{.what = {}, .system = result.error(), .is_output = true});
    return result.has_value();
  }
  bool failed() const { return fault_.has_value(); }
  bool keeps_going() const { return keep_going_; }
  /// Returns the fault and clears it, to continue with the next file: the first damage, unless the
  /// sink failed.
  std::optional<Fault> take_fault();

 private:
  static constexpr std::size_t kConnectionsMax = 65'536;
  static constexpr std::size_t kConnectionBytesMax = 256;  ///< of its text in a draft

  SessionTime time_of(UnixTime time) const;
  std::uint64_t connection_of(const ExchangeDraft& draft);
  void settle_host(ExchangeDraft& draft);
  void settle_status(ExchangeDraft& draft);
  void correct_response(ExchangeDraft& draft);
  void settle_outcome(ExchangeDraft& draft);
  Exchange exchange_of(const ExchangeDraft& draft, std::uint64_t sequence,
                       std::uint64_t connection) const;
  void add_messages(std::uint64_t sequence, const ExchangeDraft& draft);
  void clean_fields(Fields& fields, HttpVersion version);
  void count(const ExchangeDraft& draft);

  ExchangeSink& sink_;
  ImportReport report_;
  bool keep_going_;
  std::function<bool()> stop_;
  std::optional<Fault> fault_;
  std::optional<Fault> damage_;  ///< the first
  std::string part_;
  bool begun_ = false;
  std::vector<std::string> pages_;
  std::int64_t started_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t last_connection_ = 0;
  struct Connection {
    std::uint64_t id = 0;
    bool has_times = false;
  };
  std::map<std::string, Connection> connections_;
};

}  // namespace reprise::importing
