#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"
#include "dns/dial.h"
#include "dns/resolver.h"
#include "proxy/record/private_reach.h"
#include "proxy/stream/byte_stream.h"
#include "proxy/tls/client_hello.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// One `--connect-to HOST:PORT:ADDR:PORT`, with curl's meaning: an empty HOST or PORT matches any,
/// an empty ADDR or second PORT changes nothing. IPv6 literals stand in brackets.
struct ConnectTo {
  std::string host;
  std::uint16_t port = 0;
  std::string to_host;
  std::uint16_t to_port = 0;
};
std::optional<ConnectTo> parse_connect_to(std::string_view text);

/// Dials origins. It looks names up itself, never by our own stub, so that a recording resolves
/// while the system's resolver points at that stub, and connects by Happy Eyeballs. One for all
/// connections of a thread.
class OriginDialer {
 public:
  using Clock = std::chrono::steady_clock;
  using TimeOf = std::function<SessionTime(Clock::time_point)>;

  struct Options {
    std::vector<ConnectTo> connect_to;
    SslContextPtr tls;               ///< verifies, unless the user asked otherwise
    std::vector<tcp::endpoint> own;  ///< our own listeners: dialling them would never end
    dns::Resolver::Options names;    ///< who is asked for names, and who never is
    bool rebinding = false;          ///< a name may move from public to private addresses
    std::chrono::seconds connect_timeout{15};
    std::chrono::seconds tls_timeout{15};
  };
  explicit OriginDialer(Options options) : options_(std::move(options)) {}

  // Before the first dialling.
  void set_own(std::vector<tcp::endpoint> own) { options_.own = std::move(own); }
  void set_own_names(std::vector<net::ip::udp::endpoint> own) {
    options_.names.own = std::move(own);
  }
  void set_on_answer(std::function<void(const dns::LookUpAnswer&)> on_answer) {
    options_.names.on_answer = std::move(on_answer);
  }

  struct Target {
    Scheme scheme = Scheme::kHttp;
    std::string host;
    std::uint16_t port = 0;
    bool h1_only = false;  ///< only HTTP/1.1 is offered
    auto operator<=>(const Target&) const = default;
  };

  /// A dialling under way, for whoever may have to end it from outside.
  class Dialling {
   public:
    /// It fails soon after.
    void cancel();
    bool cancelled() const { return ticket_.cancelled(); }

   private:
    friend class OriginDialer;
    dns::Ticket ticket_;             // of the look-up, then of connecting
    tcp::socket* socket_ = nullptr;  // in the TLS handshake
  };

  /// What dialling came to. Without a stream, `facts.failure` says why, in a sentence.
  struct Dialled {
    std::unique_ptr<ByteStream> stream;
    ConnectionFacts facts;         ///< id and session are the caller's to fill
    bool is_private = false;       ///< the stream leads to a private address
    bool private_refused = false;  ///< there are none but private addresses, which `reach` excludes
  };

  /// Whether a --connect-to says where the target is: then any address is what the user wants.
  bool has_rule(const Target& target) const { return rule_for(target) != nullptr; }

  /// Looks the host up, connects to the first address that answers, and shakes hands, offering
  /// what `hello` (the client's, may be null) offered. All arguments live until it returns. A name
  /// that had public addresses once is never dialled at private ones, whatever `reach`: a page
  /// would get at them as at its own site (DNS rebinding).
  awaitable<Dialled> dial(const Target& target, const ClientHello* hello, Dialling& dialling,
                          const TimeOf& time_of, Reach reach = Reach::kAll);

 private:
  using Addresses = std::vector<net::ip::address>;

  const ConnectTo* rule_for(const Target& target) const;
  Target where_is(const Target& target) const;
  Task<Addresses> look_up(const std::string& host, Dialling& dialling);
  Task<tcp::socket> connect(const Target& target, Dialling& dialling, Dialled& result,
                            const TimeOf& time_of, Reach reach);
  /// Whether a connection that was made leads to a listener of ours.
  bool leads_to_self(const tcp::socket& socket) const;
  Task<std::unique_ptr<ByteStream>> start_tls(tcp::socket socket, const Target& target,
                                              const ClientHello* hello, Dialling& dialling,
                                              ConnectionFacts& facts) const;

  Options options_;
  PublicNames public_names_;
  std::unique_ptr<dns::Resolver> resolver_;  // from the first look-up on
};

}  // namespace reprise
