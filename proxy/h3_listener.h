#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/system/descriptor.h"
#include "proxy/connection.h"

namespace reprise {

/// The congestion control of QUIC connections. TCP's is the kernel's.
enum class QuicCongestion : std::uint8_t { kCubic, kReno, kBbr };

/// One thread's HTTP/3: a UDP socket, and the connections on it, each with a handler of its own, as
/// a Connection has over TCP. Everything runs on the thread of its context.
class H3Listener {
 public:
  /// ngtcp2's, which has no setting: ten packets of the first size.
  static constexpr std::size_t kInitialWindowBytes = 12'000;

  struct Options {
    QuicCongestion congestion = QuicCongestion::kCubic;
    /// Responses of these hosts without an Alt-Svc field get one; null: those of all hosts
    /// (H3ServerOptions).
    std::shared_ptr<const std::set<std::string, std::less<>>> alt_svc_hosts;
  };
  /// Shared by the connections of one thread; everything outlives them.
  struct Environment {
    net::io_context& context;
    LeafMinters& minters;
    FailedHandshakes& failed_handshakes;
    std::atomic<std::uint64_t>& connection_ids;
  };

  /// Whether this program was built with HTTP/3.
  static bool available();

  /// Binds a UDP socket to `at`. `shared`: other threads bind to it, too.
  /// `whole_loopback`: see Listen. Errors: the system's; not_supported if this program was built
  /// without HTTP/3.
  static Result<std::unique_ptr<H3Listener>> bind(const Environment& environment,
                                                  const tcp::endpoint& at, bool shared,
                                                  bool whole_loopback, const Options& options);
  /// The same with a bound socket from elsewhere.
  static Result<std::unique_ptr<H3Listener>> adopt(const Environment& environment,
                                                   Descriptor socket, const Options& options);
  virtual ~H3Listener() = default;

  virtual tcp::endpoint bound() const = 0;
  /// Begins to serve.
  virtual void start(HandlerFactory& factory) = 0;
  /// Takes no new clients; connections end once their requests are finished.
  virtual void begin_ending() = 0;
  /// Call it about once a second. `over`: ends all connections now.
  virtual void sweep(std::chrono::steady_clock::time_point now, bool over) = 0;
  /// Whether no connection is left.
  virtual bool empty() const = 0;
  /// Closes the socket, once it is empty.
  virtual void stop() = 0;
  /// Called whenever it becomes empty.
  std::function<void()> on_empty;
};

}  // namespace reprise
