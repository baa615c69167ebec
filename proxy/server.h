#pragma once

// The listeners and the threads behind them.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/system/descriptor.h"
#include "base/system/thread_priority.h"
#include "proxy/connection.h"
#include "proxy/connection_balance.h"
#include "proxy/h3_listener.h"
#include "proxy/tls/certificate_authority.h"

namespace reprise {

/// One listener as requested.
struct Listen {
  std::string flag;  ///< for messages: "--http"
  tcp::endpoint at;  ///< port 0: the system chooses
  Entry entry = Entry::kTransparent;
  bool tls = true;
  /// Listens at every address of 127.0.0.0/8 with the port of `at`, by one socket that sees only
  /// the loopback device (SO_BINDTODEVICE; permitted to all users since Linux 5.7).
  bool whole_loopback = false;
  /// A listening socket from elsewhere, perhaps of another network, instead of one at `at`; the
  /// server owns it from create() on. Its options are not changed.
  int descriptor = -1;
  /// Serves HTTP/3, too, at the UDP port with the same number (with `at`), or serves it alone
  /// (`descriptor` is a bound UDP socket).
  bool h3 = false;
  H3Listener::Options h3_options;
  /// Whether the caller accepts: it has the socket from listening_socket() and passes the
  /// connections to take().
  bool accepted_elsewhere = false;
};

/// Why a listener could not be opened.
struct ListenError {
  std::string flag;
  tcp::endpoint at;
  std::error_code error;
};

/// Accepts and serves on `threads` threads, each with its own io_context and its own sockets
/// (SO_REUSEPORT), without shared mutable state on the path of a request. A connection is handed
/// over to the thread that has the fewest.
class Server {
 public:
  /// Binds all listeners. A port in use, even by this program, is an error. Starts no threads.
  /// `authorities`, at least one, must outlive the server: LeafMinters chooses.
  static std::expected<std::unique_ptr<Server>, ListenError> create(
      const std::vector<Listen>& listeners, std::span<const CertificateAuthority> authorities,
      unsigned threads);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The connections over TCP that each thread has. Any thread.
  std::vector<std::size_t> connections() const { return balance_->counts(); }

  /// The address of each listener, in the order of create().
  const std::vector<tcp::endpoint>& bound() const { return bound_; }

  /// For all listeners.
  const FailedHandshakes& failed_handshakes() const { return failed_handshakes_; }
  FailedHandshakes& failed_handshakes() { return failed_handshakes_; }

  /// The socket of a listener that is accepted elsewhere, in the order of create(). The caller
  /// closes it. Call it once.
  int listening_socket(std::size_t listener);

  /// Serves a client of that listener. `socket` is a connected, non-blocking stream socket of any
  /// family, which the server then owns. Any thread, from start() to the end of stop(); a
  /// connection that arrives during stop() is closed.
  void take(std::size_t listener, int socket, AcceptedElsewhere from);

  /// Before start(): the names of certificates that clients will probably be shown. At most
  /// LeafMinter::kLeavesMax of them are prepared.
  void expect_names(std::span<const LeafNames> names);
  /// Mints leaves for these names, while the server serves or before; returns early if `stop` is
  /// requested. One thread, once. Returns the number of leaves.
  std::size_t mint_expected(const std::stop_token& stop);

  /// Starts the threads; earlier connections wait in the backlog. `factories` are those of the
  /// listeners, in their order, and must outlive the server. `priority` is that of the threads; not
  /// kRealtime, which could fail.
  void start(const std::vector<HandlerFactory*>& factories,
             WantedPriority priority = WantedPriority::kOrdinary);

  /// The usual limit of stop() for running requests.
  static constexpr std::chrono::milliseconds kEndingTime{5000};

  /// Closes the listeners and the connections without running requests, lets running ones finish
  /// for at most `limit`, cuts off the rest, joins the threads. Idempotent.
  void stop(std::chrono::milliseconds limit = kEndingTime);

 private:
  class Worker;
  Server() = default;
  Result<tcp::endpoint> open(const Listen& listen);
  Result<tcp::endpoint> open_streams(const Listen& listen);
  Result<tcp::endpoint> open_h3(const Listen& listen, const tcp::endpoint& at);
  /// Closes idle connections of all threads.
  void make_room();
  std::atomic<std::uint64_t> connection_ids_ = 0;
  FailedHandshakes failed_handshakes_;
  std::atomic_flag told_no_proxy_;
  std::optional<ConnectionBalance> balance_;
  SslContextPtr tls_;
  std::vector<std::unique_ptr<PreparedLeaves>> prepared_;  // by authority
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<tcp::endpoint> bound_;
  std::vector<Descriptor> elsewhere_;  // by listener; open until it is taken
};

}  // namespace reprise
