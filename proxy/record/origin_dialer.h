#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "archive/exchange.h"
#include "dns/ticket.h"
#include "proxy/record/origin_connection.h"
#include "proxy/record/private_reach.h"
#include "proxy/stream/byte_stream.h"
#include "proxy/tls/client_hello.h"

namespace reprise {

/// Makes connections to origins: over the network (NetworkDialer), or, in tests, to scripts in
/// memory. One for all connections of a thread.
class OriginDialer {
 public:
  using Clock = std::chrono::steady_clock;
  using TimeOf = std::function<SessionTime(Clock::time_point)>;

  struct Target {
    Scheme scheme = Scheme::kHttp;
    std::string host;
    std::uint16_t port = 0;
    bool h1_only = false;  ///< offer only HTTP/1.1
    /// Not for requests in a proxy's form, but for another protocol; only where forwards().
    bool tunnel = false;
    auto operator<=>(const Target&) const = default;
  };

  /// The result of a dial. Without a stream, `facts.failure` has the reason, as a sentence.
  struct Dialled {
    std::unique_ptr<ByteStream> stream;
    ConnectionFacts facts;                ///< the caller fills in id and session
    std::optional<ForwardProxy> forward;  ///< the stream leads to a proxy that forwards requests
    bool is_private = false;              ///< the stream leads to a private address
    bool private_refused = false;         ///< it has only private addresses, which `reach` excludes
  };

  virtual ~OriginDialer() = default;

  /// Whether the user gave the address of the target: then any address is permitted.
  virtual bool has_rule(const Target& target) const = 0;
  /// Whether a proxy forwards the target's requests, one by one, instead of a connection.
  virtual bool forwards(const Target&) const { return false; }

  /// Connects, and shakes hands if the scheme requires it, with the offer of `hello` (the client's,
  /// can be null). All arguments must live until it returns; cancelling `ticket` makes it fail
  /// soon.
  virtual awaitable<Dialled> dial(const Target& target, const ClientHello* hello,
                                  dns::Ticket& ticket, const TimeOf& time_of, Reach reach) = 0;
};

}  // namespace reprise
