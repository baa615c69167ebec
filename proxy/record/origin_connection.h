#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "archive/exchange.h"
#include "proxy/http/handler.h"

namespace reprise {

/// One request to an origin and its response, over any protocol. Sending and receiving may be
/// awaited at the same time. Must not outlive its connection.
class OriginExchange {
 public:
  virtual ~OriginExchange() = default;
  /// Sends the head as the client did, except for changes that the protocols require. With content,
  /// write() and finish() follow.
  virtual Task<void> send_head(const RequestHead& head, bool has_content) = 0;
  virtual Task<void> write(Bytes bytes) = 0;
  virtual Task<void> finish(HeaderList trailers) = 0;
  /// The next head, interim or final, valid until the next call; after the final one, body().
  virtual Task<ResponseHead> read_head() = 0;
  virtual BodyReader& body() = 0;
  /// After a head that accepted another protocol: body() and write() carry that protocol from now
  /// on.
  virtual void switch_protocols() = 0;
  /// When the end of the request was sent over h2, maybe long after finish(): a request waits for
  /// the origin's limit of streams. Nothing until then, and over h1, where finish() says it.
  virtual std::optional<std::chrono::steady_clock::time_point> sent_at() const = 0;
  /// Whether any byte of the response has arrived. Until then the request may be sent again.
  virtual bool response_started() const = 0;
  /// Ends it now; pending operations return with an error.
  virtual void abort() = 0;
};

/// The facts about a connection, as archived. All that refer to them share them: a session that
/// begins again archives those that are still held.
using KeptFacts = std::shared_ptr<const ConnectionFacts>;

/// How requests are sent to a proxy that forwards them (RFC 9112 section 3.2.2).
struct ForwardProxy {
  std::string authorization;  ///< value of Proxy-Authorization, for the proxy only; can be empty
};

/// A connection to an origin.
class OriginConnection {
 public:
  virtual ~OriginConnection() = default;
  /// Runs beside the exchanges until the connection has ended or close() was called.
  virtual awaitable<void> run() = 0;
  /// Whether begin() may be called now.
  virtual bool available() = 0;
  /// Whether no exchange uses it, and begin() may be called now.
  virtual bool idle() = 0;
  /// Whether it will never be available again and no exchange uses it.
  virtual bool over() = 0;
  virtual std::unique_ptr<OriginExchange> begin() = 0;
  /// Whether it can carry a WebSocket, as far as the origin has announced.
  virtual bool takes_web_sockets() const = 0;
  virtual void close() = 0;

  KeptFacts facts;          ///< null until they are archived
  bool is_private = false;  ///< it leads to a private address
};

/// `alpn` is the origin's choice. An h2 origin gets the SETTINGS of `client` as of the first
/// exchange; `client` must outlive the connection. With `forward`, the stream leads to a proxy;
/// read_head() fails with upstream_errc::not_authorized if the proxy asks for another
/// authorization.
std::unique_ptr<OriginConnection> make_origin_connection(
    std::unique_ptr<ByteStream> stream, const std::string& alpn, const ConnectionInfo& client,
    std::optional<ForwardProxy> forward = std::nullopt);

}  // namespace reprise
