#pragma once

// The one interface of the proxy: an HTTP exchange. The servers (h1, h2, h3) call it;
// RecordConnection, ReplayConnection and Admin implement it.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/http/message.h"
#include "proxy/http/stored_response.h"
#include "proxy/stream/byte_stream.h"

namespace reprise {

/// The known properties of a client's connection. Lives as long as the connection.
struct ConnectionInfo {
  std::uint64_t id = 0;     ///< unique in this process, from 1
  tcp::endpoint client;     ///< h3: addresses and ports of UDP
  tcp::endpoint local;      ///< the address that the client connected to
  std::string tunnel_host;  ///< the authority of a CONNECT, empty otherwise
  std::uint16_t tunnel_port = 0;
  std::string server_name;  ///< SNI; empty if absent
  std::string alpn;         ///< the negotiated protocol; empty if absent
  std::string tls_version;  ///< "TLSv1.3", empty for plain text
  /// h2: the client's SETTINGS and the order of its pseudo-header fields, which sites look at.
  std::vector<std::pair<std::uint16_t, std::uint32_t>> h2_settings;
  std::vector<std::string> h2_pseudo_order;
  /// h2: whether to tell the client at once that WebSockets can share the connection (RFC 8441).
  bool takes_web_sockets = false;
  /// h2: tells the client later. Empty over h1, where that is not needed.
  std::function<void()> offer_web_sockets;
};

struct ExchangeContext {
  const ConnectionInfo& connection;
  std::uint64_t stream_id = 0;                    ///< h2, h3: the stream; h1: the request's number
  std::chrono::steady_clock::time_point arrived;  ///< when the head was complete
};

/// A message's content as it arrives.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  /// The next bytes, valid until the next call; empty at the end. Errors: the stream's, or that of
  /// the framing (h1_errc::truncated); the connection is then unusable.
  virtual Task<Bytes> read() = 0;
  /// Whether everything was read. If the framing shows it, true already with the last bytes.
  virtual bool finished() const = 0;
  /// Valid once finished.
  virtual HeaderList trailers() const = 0;
};

/// Sends one response. Calls in order: send_head (interim ones first), write..., finish; or
/// send_stored alone. An unfinished response is aborted: the client sees a broken message.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  virtual Task<void> send_head(const ResponseHead& head) = 0;
  /// Suspends while the client does not accept the bytes. Without bytes: waits until an abort would
  /// not discard what was written (h2, h3; over h1 the abort itself waits).
  virtual Task<void> write(Bytes bytes) = 0;
  virtual Task<void> finish(HeaderList trailers) = 0;
  /// Sends a whole prepared response, which is held until it has been sent.
  virtual Task<void> send_stored(StoredResponsePtr response) = 0;
  /// Whether a final head was sent: then no other response is possible.
  virtual bool head_sent() const = 0;
  /// Waits until `at`, or until the server is told to end, since the rest should then be sent soon;
  /// returns at once, without a timer, if that time has passed. Not while another call of this
  /// writer is awaited. Errors: the client has closed, as of client_gone().
  virtual Task<void> pause_until(std::chrono::steady_clock::time_point at) = 0;
  /// Returns once the client has closed. Over h1 that is also a client that has ended its side and
  /// was sent nothing for HalfClosed::kGrace after that. For handlers that wait for something else;
  /// can be cancelled.
  virtual awaitable<void> client_gone() = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;
  /// Answers one request. All arguments must live until it returns. Reads and writes may be awaited
  /// at the same time. An error ends the connection (h1) or the stream (h2, h3).
  virtual Task<void> serve(const ExchangeContext& context, const RequestHead& head,
                           BodyReader& body, ResponseWriter& writer) = 0;
  /// The answer to a request without content, if it is prepared and due at once: it then counts as
  /// served, as by serve(). Null: call serve().
  virtual StoredResponsePtr stored(const ExchangeContext&, const RequestHead&) { return nullptr; }
  /// The client has closed: ends the waits of serve(), so that it returns soon.
  virtual void close() {}
};

/// Sends a complete response made here: `text`, as text/plain, never cached.
Task<void> send_text(ResponseWriter& writer, std::uint16_t status, std::string_view text);
/// The same with status 502, for an origin without an answer: `why` is in the body for users, and
/// in Proxy-Status (RFC 9209) for programs, as the details of this proxy.
Task<void> send_bad_gateway(ResponseWriter& writer, std::string_view why);
/// The same as send_text() with JSON.
Task<void> send_json(ResponseWriter& writer, std::uint16_t status, std::string_view json);

/// The reason phrase of `status` in RFC 9110; empty for unknown ones.
std::string_view reason_phrase(std::uint16_t status);

}  // namespace reprise
