#pragma once

#include "proxy/http/h1_server.h"
#include "proxy/http/handler.h"

namespace reprise {

struct H2ServerOptions {
  std::uint32_t concurrent_streams_max = 256;
  std::uint32_t stream_window_bytes = 1 << 20;
  std::uint32_t connection_window_bytes = 16 << 20;
  std::chrono::seconds idle_timeout{300};
  std::chrono::seconds head_timeout{30};    ///< from the first frame of a head to its end
  std::chrono::seconds stall_timeout{120};  ///< for a stream that waits for its client
};

/// Serves HTTP/2 (RFC 9113) on `stream`, whose ALPN was h2, until either side ends it: concurrent
/// streams, flow control both ways, trailers, interim heads, RFC 9218 priorities. No server push.
/// A stream whose client neither sends nor takes its content is reset. Floods (resets, SETTINGS,
/// PING, CONTINUATION, endless heads) end the connection. Returns once every handler has returned.
/// Errors: why the connection broke.
Task<void> serve_h2(ByteStream& stream, ConnectionInfo& connection, Handler& handler,
                    Deadline& deadline, const H2ServerOptions& options);

}  // namespace reprise
