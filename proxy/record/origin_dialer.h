#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "archive/exchange.h"
#include "dns/ticket.h"
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
    bool h1_only = false;  ///< only HTTP/1.1 is offered
    auto operator<=>(const Target&) const = default;
  };

  /// What dialling came to. Without a stream, `facts.failure` says why, in a sentence.
  struct Dialled {
    std::unique_ptr<ByteStream> stream;
    ConnectionFacts facts;         ///< id and session are the caller's to fill
    bool is_private = false;       ///< the stream leads to a private address
    bool private_refused = false;  ///< there are none but private addresses, which `reach` excludes
  };

  virtual ~OriginDialer() = default;

  /// Whether the user said where the target is: then any address is what the user wants.
  virtual bool has_rule(const Target& target) const = 0;

  /// Connects, and shakes hands where the scheme has it, offering what `hello` (the client's, may
  /// be null) offered. All arguments live until it returns; cancelling `ticket` makes it fail soon.
  virtual awaitable<Dialled> dial(const Target& target, const ClientHello* hello,
                                  dns::Ticket& ticket, const TimeOf& time_of, Reach reach) = 0;
};

}  // namespace reprise
