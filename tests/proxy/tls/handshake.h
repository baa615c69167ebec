#pragma once

// TLS without sockets: two ends in one thread, joined by memory.

#include <openssl/ssl.h>

#include <cstddef>
#include <vector>

namespace reprise {

/// What a client that is ready to connect sends first.
std::vector<std::byte> first_flight(SSL* client);

struct Shaken {
  bool client = false;  ///< its handshake is finished
  bool server = false;
};

/// Joins the two ends and lets them talk until both are finished or one has failed. Session tickets
/// are delivered, too.
Shaken shake_hands(SSL* client, SSL* server);

}  // namespace reprise
