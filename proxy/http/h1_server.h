#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/http/h1_parser.h"
#include "proxy/http/handler.h"

namespace reprise {

/// Shared by a connection's owner and its protocol, about the end of the connection: the deadline
/// at which the owner closes it, and the request that it end by itself. Used on one thread.
struct Deadline {
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::time_point::max();
  bool between_messages = false;    ///< the connection can end: no message would be cut
  bool ending = false;              ///< the owner: no new message may begin
  std::function<void()> on_ending;  ///< the protocol: called once when `ending` becomes true
  /// The protocol: bytes of content that the client took, if content waits for the client, and not
  /// only for the window of its own stream.
  std::function<std::optional<std::uint64_t>()> waiting;
  /// The protocol: called about once a second, to end requests that the client leaves unfinished.
  std::function<void(std::chrono::steady_clock::time_point now)> on_sweep;
  /// The start of the idle time, if the connection is idle: it can be closed if descriptors run
  /// out.
  std::optional<std::chrono::steady_clock::time_point> idle_since;

  void set(std::chrono::steady_clock::time_point when, bool nothing_runs = false) {
    at = when;
    between_messages = nothing_runs;
    idle_since.reset();
  }
  void set_idle(std::chrono::steady_clock::time_point since, std::chrono::seconds patience) {
    set(since + patience, true);
    idle_since = since;
  }
};

struct H1ServerOptions {
  Scheme scheme = Scheme::kHttp;
  /// An explicit proxy: takes absolute-form and CONNECT, and refuses origin-form.
  bool explicit_proxy = false;
  std::chrono::seconds idle_timeout{120};  ///< between requests
  std::chrono::seconds head_timeout{30};   ///< from the first byte of a head to its end
};

/// A CONNECT that was answered with 200: the following bytes are for this authority.
struct H1Tunnel {
  Authority authority;
  std::vector<std::byte> early;  ///< bytes of the tunnel that were read already
};

/// Serves HTTP/1.0 and 1.1 on `stream` until either side ends it: keep-alive, pipelining (one
/// request at a time, in order), 100-continue, bodies in either framing. Returns a tunnel if the
/// client sent CONNECT. Errors: the reason why the connection broke.
Task<std::optional<H1Tunnel>> serve_h1(ByteStream& stream, const ConnectionInfo& connection,
                                       Handler& handler, Deadline& deadline,
                                       const H1ServerOptions& options,
                                       std::vector<std::byte> early);

}  // namespace reprise
