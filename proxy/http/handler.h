#pragma once

// The one interface of the proxy: an HTTP exchange. The servers (h1, later h2 and h3) call it;
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

/// What is known of a client's connection. Lives as long as the connection.
struct ConnectionInfo {
  std::uint64_t id = 0;  ///< unique in this process, from 1
  tcp::endpoint client;
  tcp::endpoint local;      ///< where the client connected to
  std::string tunnel_host;  ///< the authority of a CONNECT, empty otherwise
  std::uint16_t tunnel_port = 0;
  std::string server_name;  ///< SNI, empty without
  std::string alpn;         ///< what was agreed, empty without
  std::string tls_version;  ///< "TLSv1.3", empty for clear text
  /// h2: the client's SETTINGS and the order of its pseudo fields, which sites look at.
  std::vector<std::pair<std::uint16_t, std::uint32_t>> h2_settings;
  std::vector<std::string> h2_pseudo_order;
  /// h2: whether the client is told at once that WebSockets may share the connection (RFC 8441).
  bool takes_web_sockets = false;
  /// h2: tells it later. Empty over h1, where it need not be told.
  std::function<void()> offer_web_sockets;
};

struct ExchangeContext {
  const ConnectionInfo& connection;
  std::uint64_t stream_id = 0;  ///< h2: the stream; h1: the request's number on the connection
  std::chrono::steady_clock::time_point arrived;  ///< when the head was whole
};

/// A message's content as it arrives.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  /// The next bytes, valid until the next call; empty at the end. Errors: the stream's, or that of
  /// the framing (h1_errc::truncated); the connection is then of no more use.
  virtual Task<Bytes> read() = 0;
  /// Whether all was read. Where the framing tells, true already with the last bytes.
  virtual bool finished() const = 0;
  /// Valid once finished.
  virtual HeaderList trailers() const = 0;
};

/// Sends one response. Calls in order: send_head (interim ones first), write..., finish; or
/// send_stored alone. What a handler leaves unfinished is aborted: the client sees a broken
/// message.
class ResponseWriter {
 public:
  virtual ~ResponseWriter() = default;
  virtual Task<void> send_head(const ResponseHead& head) = 0;
  /// Suspends while the client does not take the bytes.
  virtual Task<void> write(Bytes bytes) = 0;
  virtual Task<void> finish(HeaderList trailers) = 0;
  /// All of a response that was prepared before; it is held until it has gone.
  virtual Task<void> send_stored(StoredResponsePtr response) = 0;
  /// Whether a final head was sent: then no other response can be.
  virtual bool head_sent() const = 0;
  /// Waits until `at`, or until the server is told to end, as what is left is then to go out soon;
  /// returns at once, without a timer, when that was before. Not while anything else of this writer
  /// is awaited. Errors: the client has gone away.
  virtual Task<void> pause_until(std::chrono::steady_clock::time_point at) = 0;
  /// Returns once the client has gone away (or has ended its side, as curl never does before it has
  /// its answer). For handlers that wait for something else; may be cancelled.
  virtual awaitable<void> client_gone() = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;
  /// Answers one request. All arguments live until it returns. Reads and writes may be awaited at
  /// the same time. An error ends the connection (h1) or the stream (h2).
  virtual Task<void> serve(const ExchangeContext& context, const RequestHead& head,
                           BodyReader& body, ResponseWriter& writer) = 0;
  /// The answer to a request without content, where it lies prepared and nothing is to be waited
  /// for: it is then given, as if by serve(). Null: serve() is to be called.
  virtual StoredResponsePtr stored(const ExchangeContext&, const RequestHead&) { return nullptr; }
  /// The client is gone: ends what serve() waits for elsewhere, so that it returns soon.
  virtual void close() {}
};

/// Sends a whole response of our own: `text`, as text/plain, never cached.
Task<void> send_text(ResponseWriter& writer, std::uint16_t status, std::string_view text);
/// The same with status 502, for an origin that gave no answer: `why` is told to people in the
/// body, and to programs in Proxy-Status (RFC 9209), as the details of this proxy.
Task<void> send_bad_gateway(ResponseWriter& writer, std::string_view why);
/// The same as send_text() with JSON.
Task<void> send_json(ResponseWriter& writer, std::uint16_t status, std::string_view json);

/// The reason phrase RFC 9110 gives `status`, empty for unknown ones.
std::string_view reason_phrase(std::uint16_t status);

}  // namespace reprise
