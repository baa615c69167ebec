#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "proxy/failed_handshakes.h"
#include "proxy/http/h1_server.h"
#include "proxy/http/handler.h"
#include "proxy/http/stand_still.h"
#include "proxy/stream/socket_stream.h"
#include "proxy/tls/client_hello.h"
#include "proxy/tls/leaf_minters.h"

namespace reprise {

/// What a client gets in its TLS handshake.
struct TlsPlan {
  LeafNames names;
  std::string alpn;          ///< empty: none is negotiated
  std::string tls_version;   ///< "TLSv1.2" or "TLSv1.3"; empty: any that both support
  bool web_sockets = false;  ///< announce WebSockets over h2
};

/// Whether one of the names, wildcards included (RFC 6125 section 6.4.3), matches `host`.
bool covers(const LeafNames& names, const std::string& host);

/// Adds `host` to the names if none of them covers it.
void cover(LeafNames& names, const std::string& host);

/// Handles the requests of one client connection, and decides its TLS before the first.
class ConnectionHandler : public Handler {
 public:
  /// `connection.server_name` or `tunnel_host` names the host. Never fails: an error of the
  /// origin is reported in the response to the first request.
  virtual awaitable<TlsPlan> plan_tls(const ConnectionInfo& connection,
                                      const ClientHello& hello) = 0;
  /// The names on the certificate of an HTTP/3 connection, whose `server_name` is known. Nothing:
  /// the host is not served over HTTP/3.
  virtual std::optional<LeafNames> plan_quic(const ConnectionInfo&) { return std::nullopt; }
  /// Returns once this handler runs no more coroutines; call it after close().
  virtual awaitable<void> ended() { co_return; }
};

/// Record, replay or admin: makes the handler of each connection. open() is called on the
/// connection's thread.
class HandlerFactory {
 public:
  virtual ~HandlerFactory() = default;
  /// `connection` outlives the handler.
  virtual std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) = 0;
};

enum class Entry : std::uint8_t {
  kTransparent,  ///< plain HTTP or TLS, distinguished by the first byte
  kProxy,        ///< an explicit proxy: absolute-form and CONNECT
};

/// Addresses of a connection that another process accepted, whose socket does not have them.
struct AcceptedElsewhere {
  tcp::endpoint client;
  tcp::endpoint local;             ///< the address that the client connected to
  std::function<void()> on_abort;  ///< SocketStream::set_on_abort
};

/// Shared by the connections of one thread. Everything outlives them.
struct ConnectionEnvironment {
  HandlerFactory& factory;
  SSL_CTX* tls;  ///< null on listeners without TLS
  LeafMinters* minters;
  FailedHandshakes& failed_handshakes;
  /// Set by the first client that uses a transparent listener as a proxy, which is logged.
  std::atomic_flag* told_no_proxy = nullptr;
};

/// A client's connection from accept to close. One root coroutine, run(), owns the socket, the
/// handler and everything between them.
class Connection {
 public:
  Connection(tcp::socket socket, std::uint64_t id, Entry entry, ConnectionEnvironment environment,
             std::optional<AcceptedElsewhere> from = {});
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Serves until either side ends the connection. Logs the error, if any.
  awaitable<void> run();

  /// Accepts no new requests: run() returns once the running ones are finished. Without running
  /// requests the connection is closed at once.
  void end();
  /// Ends the connection from outside, with all requests; run() returns soon after.
  void close();
  /// How long a client may take no byte while data waits for it.
  static constexpr std::chrono::seconds kStallTimeout{120};

  /// Whether the deadline is over, or the client stalls. Call it about once a second.
  bool is_overdue(std::chrono::steady_clock::time_point now);

  /// The start of the idle time, if no request runs and the connection is not ending.
  std::optional<std::chrono::steady_clock::time_point> idle_since() const {
    return deadline_.ending ? std::nullopt : deadline_.idle_since;
  }

 private:
  Task<void> serve();
  /// Reads until the first bytes are known to be TLS or not; they end up in `early`.
  Task<std::optional<ClientHello>> read_hello(std::vector<std::byte>& early);
  Task<void> start_tls(const ClientHello& hello, std::vector<std::byte> early);
  /// Tells the user, once, about a client that got `error` as it uses this listener as a proxy.
  void tell_of_proxy_use(std::error_code error);
  /// Counts a handshake that failed before its first answer, and ends it with a fatal alert.
  awaitable<void> refuse_tls(std::error_code error, std::uint8_t alert);

  Entry entry_;
  ConnectionEnvironment environment_;
  std::function<void()> on_abort_;
  ConnectionInfo info_;
  Deadline deadline_;
  std::unique_ptr<SocketStream> stream_;
  std::unique_ptr<ConnectionHandler> handler_;
  StandStill stand_still_;  // of the client's reads
};

}  // namespace reprise
