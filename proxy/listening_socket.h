#pragma once

// The TCP sockets of the listeners.

#include "proxy/server.h"

namespace reprise {

/// The kernel's limit of unsent data per connection. With more, an urgent response would wait for
/// data already in the socket (megabytes, without this limit). With less than a segment of
/// loopback's 64 KiB, sendfile(2) would stall: it holds back a partial segment for more data (200
/// ms), and there would be no room for more.
inline constexpr int kUnsentBytesMax = 128 << 10;
/// The same behind a packet link, whose segments are small.
inline constexpr int kUnsentBytesMaxBehindLink = 16 << 10;

struct ListeningSocket {
  int socket = -1;  ///< the caller closes it
  tcp::endpoint at;
};

/// Binds and listens. The port is first claimed without SO_REUSEPORT, so that a port in use is
/// refused, even if its program shares ports as this one does; the first socket then permits its
/// siblings. Errors: the system's.
Result<ListeningSocket> bind_and_listen(const Listen& listen, std::uint16_t port, bool sibling);

/// Another owner's listening socket. Threads after the first share it. Errors: the system's.
Result<ListeningSocket> adopt(int listener, bool shared);

}  // namespace reprise
