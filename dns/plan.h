#pragma once

// Assigns a stand-in address to each origin address (DESIGN, Topology). Pure.

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "dns/zone.h"

namespace reprise::dns {

/// A host as it was recorded. If it is given more than once, its addresses add up.
struct RecordedHost {
  std::string host;
  /// Its origin addresses, as parse_address() reads them.
  std::vector<std::string> addresses;
  /// CNAME targets, in order; more than LookUpAnswer::kChainMax are ignored, as are loops.
  std::vector<std::string> chain;
  std::optional<std::uint32_t> ttl_s;  ///< of its addresses
  std::vector<Svcb> https;
  LookupTimes delay{};  ///< of each type, the longest one counts
};

/// Gives each recorded origin address its own stand-in, numbered by first appearance, so the same
/// recording has the same numbers on every machine. Number n is 127.18.x.y on loopback and
/// 198.18.x.y inside a namespace with the same x and y: y goes from 1 to 254, x from 0 to 255.
/// 198.19.0.0/16 is free for the creator of the namespace, except for the catch-all.
///
/// - An IPv6 origin gets an IPv4 stand-in; an IPv4-mapped IPv6 address is the IPv4 one.
/// - A host without an address (never reached, or imported without) has a stand-in for itself
///   alone, to prevent coalescing that the recording may not have had.
/// - A host that is an IP literal is an origin address like any other. Nobody looks it up, so it is
///   in chromium_rules() and not in zone(). Without rules a client dials the literal itself; only a
///   namespace can redirect it.
/// - localhost is a host like any other if it was recorded; see Responder for when it was not.
///
/// Immutable, so thread-safe.
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
    std::vector<boost::asio::ip::address_v4>
        addresses;  ///< stand-ins, in the order of its origin addresses
    std::vector<std::string> chain;
    std::optional<std::uint32_t> ttl_s;
    std::vector<Svcb> https;
    LookupTimes delay{};
  };

  /// `recorded` is in order of first appearance. Errors: too_many_addresses.
  static Result<Plan> create(const std::vector<RecordedHost>& recorded, const Options& options);

  /// In the order of first appearance.
  const std::vector<Host>& hosts() const { return hosts_; }
  /// Null if the host was not recorded. Accepts any form of the host.
  const Host* find(std::string_view host) const;
  /// Every address to listen on, ordered by number, without the catch-all.
  const std::vector<boost::asio::ip::address_v4>& stand_ins() const { return stand_ins_; }
  std::optional<boost::asio::ip::address_v4> stand_in_of(
      const boost::asio::ip::address& origin) const;
  /// The address for hosts that were not recorded, if a catch-all is requested: 127.19.0.1 or
  /// 198.19.0.1, or the one address of a single topology.
  boost::asio::ip::address_v4 catch_all() const { return catch_all_; }
  /// Recorded hosts that are invalid (normal_host()), at most 100. They cannot be looked up.
  const std::vector<std::string>& refused() const { return refused_; }

  /// The ports of the listeners, which differ from those of the origins.
  struct Ports {
    std::uint16_t http = 80;
    std::uint16_t https = 443;
  };
  /// The value of Chromium's --host-resolver-rules: each host leads to its first stand-in; others
  /// fail, or lead to the catch-all. A host's ports 80 and 443 lead to `ports`, all others to the
  /// HTTPS port. Linux limits an argument to 128 KiB: with more than about 600 hosts only the stub
  /// resolver works.
  std::string chromium_rules(const Ports& ports, bool with_catch_all) const;
  /// The answers of the stub; HTTPS records are reduced to what replay supports (served_https()).
  /// Those of the hosts in `h3_hosts`, as normal_host() writes them, keep their offers of HTTP/3.
  Zone zone(bool with_catch_all, const std::set<std::string>& h3_hosts = {}) const;

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
