#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/http/h1_parser.h"
#include "proxy/http/handler.h"

namespace reprise {

/// What a connection's owner and the protocol on it tell each other about its end: when it is
/// closed from outside for being too slow, and that it is to end by itself. Written and read on one
/// thread.
struct Deadline {
  std::chrono::steady_clock::time_point at = std::chrono::steady_clock::time_point::max();
  bool between_messages = false;    ///< the connection may end in order: nothing is cut by it
  bool ending = false;              ///< the owner: no message may begin any more
  std::function<void()> on_ending;  ///< the protocol: called once when `ending` becomes true
  /// The protocol: how many bytes of content the client took, if content waits for its windows.
  std::function<std::optional<std::uint64_t>()> waiting;
  /// The protocol: called every second or so, to end what the client leaves unfinished.
  std::function<void(std::chrono::steady_clock::time_point now)> on_sweep;
  /// Since when nothing has run and nothing has been heard, if so: where descriptors run out, the
  /// connection may be closed for others.
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

/// A CONNECT that was answered with 200: what follows on the stream belongs to this authority.
struct H1Tunnel {
  Authority authority;
  std::vector<std::byte> early;  ///< bytes of the tunnel that were read already
};

/// Serves HTTP/1.0 and 1.1 on `stream` until either side ends it: keep-alive, pipelining (one
/// request at a time, in order), 100-continue, bodies in either framing. Returns a tunnel when the
/// client asked for one. Errors: why the connection broke.
Task<std::optional<H1Tunnel>> serve_h1(ByteStream& stream, const ConnectionInfo& connection,
                                       Handler& handler, Deadline& deadline,
                                       const H1ServerOptions& options,
                                       std::vector<std::byte> early);

}  // namespace reprise
