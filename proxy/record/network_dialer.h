#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dns/dial.h"
#include "dns/resolver.h"
#include "proxy/record/origin_dialer.h"
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

/// Dials origins over the network. It looks names up itself, never by our own stub, so that a
/// recording resolves while the system's resolver points at that stub, and connects by Happy
/// Eyeballs.
class NetworkDialer final : public OriginDialer {
 public:
  struct Options {
    std::vector<ConnectTo> connect_to;
    SslContextPtr tls;               ///< verifies, unless the user asked otherwise
    std::vector<tcp::endpoint> own;  ///< our own listeners: dialling them would never end
    dns::Resolver::Options names;    ///< who is asked for names, and who never is
    bool rebinding = false;          ///< a name may move from public to private addresses
    std::chrono::seconds connect_timeout{15};
    std::chrono::seconds tls_timeout{15};
  };
  explicit NetworkDialer(Options options) : options_(std::move(options)) {}

  /// To be told of each answer about a name; before the first dialling.
  void set_on_answer(std::function<void(const dns::LookUpAnswer&)> on_answer) {
    options_.names.on_answer = std::move(on_answer);
  }

  bool has_rule(const Target& target) const override { return rule_for(target) != nullptr; }

  /// Looks the host up, connects to the first address that answers, and shakes hands. A name that
  /// had public addresses once is never dialled at private ones, whatever `reach`: a page would get
  /// at them as at its own site (DNS rebinding).
  awaitable<Dialled> dial(const Target& target, const ClientHello* hello, dns::Ticket& ticket,
                          const TimeOf& time_of, Reach reach) override;

 private:
  using Addresses = std::vector<net::ip::address>;

  const ConnectTo* rule_for(const Target& target) const;
  Target where_is(const Target& target) const;
  Task<Addresses> look_up(const std::string& host, dns::Ticket& ticket);
  Task<tcp::socket> connect(const Target& target, dns::Ticket& ticket, Dialled& result,
                            const TimeOf& time_of, Reach reach);
  /// Whether a connection that was made leads to a listener of ours.
  bool leads_to_self(const tcp::socket& socket) const;
  Task<std::unique_ptr<ByteStream>> start_tls(tcp::socket socket, const Target& target,
                                              const ClientHello* hello, dns::Ticket& ticket,
                                              ConnectionFacts& facts) const;

  Options options_;
  PublicNames public_names_;
  std::unique_ptr<dns::Resolver> resolver_;  // from the first look-up on
};

}  // namespace reprise
