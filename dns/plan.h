#pragma once

// Which address stands in for which origin (DESIGN, Topology). Pure.

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "dns/zone.h"

namespace reprise::dns {

/// A host as it was recorded. It may be given more than once: addresses add up.
struct RecordedHost {
  std::string host;
  /// The origin addresses that it was reached at, as parse_address() reads them.
  std::vector<std::string> addresses;
  std::vector<std::string> chain;      ///< CNAME targets, in order
  std::optional<std::uint32_t> ttl_s;  ///< of its addresses
  std::vector<Svcb> https;
};

/// Gives each recorded origin address an address of its own, numbered by first appearance, so that
/// the same recording has the same numbers on every machine. Number n is 127.18.x.y on loopback and
/// 198.18.x.y inside a namespace with the same x and y: y goes from 1 to 254, x from 0 to 255.
/// 198.19.0.0/16 is free for whoever makes the namespace, but for the catch-all.
///
/// - An IPv6 origin gets an IPv4 stand-in; an IPv4 address written as IPv6 is the IPv4 one.
/// - A host without an address (never reached, or imported without) has one stand-in for itself
///   alone, so that nothing is coalesced that may not have been.
/// - A host that is an IP literal is an origin address like any other. Nobody looks it up, so it is
///   in chromium_rules() and not in hosts_text() or zone(). Without rules a client that was given a
///   literal dials just that; only a namespace can bring it here.
/// - localhost is a host like any other when it was recorded; see Responder for when it was not.
///
/// Immutable once made, so thread-safe.
class Plan {
 public:
  static constexpr std::size_t kAddressesMax = 65000;

  enum class Range { kLoopback, kNamespace };
  struct Options {
    Range range = Range::kLoopback;
    bool single = false;  ///< `--topology single`: everything on the first address
  };

  struct Host {
    std::string host;  ///< as normal_host() writes it
    bool literal = false;
    std::vector<boost::asio::ip::address_v4> addresses;  ///< stand-ins, as its origins appeared
    std::vector<std::string> chain;
    std::optional<std::uint32_t> ttl_s;
    std::vector<Svcb> https;
  };

  /// `recorded` is in order of first appearance. Errors: too_many_addresses.
  static Result<Plan> create(const std::vector<RecordedHost>& recorded, const Options& options);

  /// By first appearance.
  const std::vector<Host>& hosts() const { return hosts_; }
  /// Nothing for a host that was not recorded. Takes any way of writing it.
  const Host* find(std::string_view host) const;
  /// Every address that has to be listened on, in order of its number; not the catch-all.
  const std::vector<boost::asio::ip::address_v4>& stand_ins() const { return stand_ins_; }
  std::optional<boost::asio::ip::address_v4> stand_in_of(
      const boost::asio::ip::address& origin) const;
  /// What hosts that were not recorded lead to when that is asked for: 127.19.0.1 or 198.19.0.1,
  /// or the one address of a single topology.
  boost::asio::ip::address_v4 catch_all() const { return catch_all_; }
  /// Recorded hosts that are none (normal_host()), at most 100 of them. They cannot be looked up.
  const std::vector<std::string>& refused() const { return refused_; }

  /// Where listeners have other ports than the origins had.
  struct Ports {
    std::uint16_t http = 80;
    std::uint16_t https = 443;
  };
  /// The value of Chromium's --host-resolver-rules: each host's first stand-in, and nothing but
  /// failure, or the catch-all, for others. A host's ports 80 and 443 lead to `ports`, all others
  /// to the HTTPS one. Linux takes no argument over 128 KiB: with hosts past some 600 only the stub
  /// resolver serves.
  std::string chromium_rules(const Ports& ports, bool with_catch_all) const;
  /// Lines of /etc/hosts.
  std::string hosts_text() const;
  /// What the stub answers; HTTPS records only with what can be honoured (see served_https()).
  Zone zone(bool with_catch_all) const;

 private:
  class Builder;
  Plan() = default;
  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::size_t> by_host_;
  std::vector<boost::asio::ip::address_v4> stand_ins_;
  std::map<boost::asio::ip::address, boost::asio::ip::address_v4> by_origin_;
  boost::asio::ip::address_v4 catch_all_;
  std::vector<std::string> refused_;
};

}  // namespace reprise::dns
