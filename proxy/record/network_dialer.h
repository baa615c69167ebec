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
#include "proxy/record/upstream_proxy.h"
#include "proxy/tls/client_certificate.h"
#include "proxy/tls/openssl_ptr.h"

namespace reprise {

/// One `--connect-to HOST:PORT:ADDR:PORT`, as in curl: an empty HOST or PORT matches any, an empty
/// ADDR or second PORT changes nothing. IPv6 literals need brackets.
struct ConnectTo {
  std::string host;
  std::uint16_t port = 0;
  std::string to_host;
  std::uint16_t to_port = 0;
};
std::optional<ConnectTo> parse_connect_to(std::string_view text);

/// Dials origins over the network. It looks up names itself, never through our own stub, so that a
/// recording can resolve names while the system's resolver is that stub, and connects by Happy
/// Eyeballs.
class NetworkDialer final : public OriginDialer {
 public:
  struct Options {
    std::vector<ConnectTo> connect_to;
    UpstreamProxies upstream;                     ///< for targets without a rule of connect_to
    std::vector<ClientCertificate> certificates;  ///< the first for a host is used
    SslContextPtr tls;                            ///< verifies, unless the user has disabled it
    std::vector<tcp::endpoint> own;  ///< our own listeners: dialling them would be an endless loop
    dns::Resolver::Options names;    ///< the servers to ask, and those never to ask
    bool rebinding = false;          ///< a name may move from public to private addresses
    std::chrono::seconds connect_timeout{15};
    std::chrono::seconds tls_timeout{15};
  };
  explicit NetworkDialer(Options options) : options_(std::move(options)) {}

  /// Receives each answer about an origin's name; set it before the first dial.
  void set_on_answer(std::function<void(const dns::LookUpAnswer&)> on_answer);

  bool has_rule(const Target& target) const override { return rule_for(target) != nullptr; }
  bool forwards(const Target& target) const override;

  /// Looks up the host, connects to the first address that answers, and shakes hands. A name that
  /// once had public addresses is never dialled at private ones, whatever `reach` is: a page could
  /// access them as its own site (DNS rebinding).
  awaitable<Dialled> dial(const Target& target, const ClientHello* hello, dns::Ticket& ticket,
                          const TimeOf& time_of, Reach reach) override;

 private:
  using Addresses = std::vector<net::ip::address>;

  const ConnectTo* rule_for(const Target& target) const;
  const UpstreamProxy* proxy_for(const Target& target) const;
  Target where_is(const Target& target) const;
  Task<Addresses> look_up(const std::string& host, dns::Ticket& ticket);
  Task<tcp::socket> connect(const Target& target, dns::Ticket& ticket, Dialled& result,
                            const TimeOf& time_of, Reach reach);
  Task<tcp::socket> connect_through(const UpstreamProxy& proxy, const Target& target,
                                    dns::Ticket& ticket, Dialled& result, const TimeOf& time_of,
                                    Reach reach);
  /// Connects to one of the addresses, and says when the attempt began, and where it led.
  Task<tcp::socket> connect_to_any(const std::string& host, const Addresses& addresses,
                                   std::uint16_t port, dns::Ticket& ticket, ConnectionFacts& facts,
                                   const TimeOf& time_of, tcp::endpoint& at);
  /// Whether a connection leads to one of our listeners.
  bool leads_to_self(const tcp::socket& socket) const;
  Task<std::unique_ptr<ByteStream>> start_tls(tcp::socket socket, const Target& target,
                                              const ClientHello* hello, dns::Ticket& ticket,
                                              ConnectionFacts& facts) const;

  Options options_;
  PublicNames public_names_;
  std::unique_ptr<dns::Resolver> resolver_;  // created by the first look-up
};

}  // namespace reprise
