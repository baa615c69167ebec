#pragma once

// Decides who may reach private networks through a recorder: tools and local pages, but no page of
// the Internet. Browsers block such requests themselves (Local Network Access), which a proxy would
// undo.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/message.h"
#include "proxy/stream/net.h"

namespace reprise {

/// Whether an address belongs to this machine or to a network other than the Internet: loopback,
/// RFC 1918, link-local, RFC 6598, 198.18.0.0/15, unique local, and addresses mapped to these.
bool is_private(const net::ip::address& address);

enum class Reach : std::uint8_t { kAll, kPublicOnly };

/// Decides for one session, whose requests are reported to it. README.md, "Trust", has the rule.
/// Pure.
class PrivateReach {
 public:
  static constexpr std::size_t kHostsMax = 4096;

  struct Options {
    bool all = false;                     ///< the user permits it (--allow-private)
    std::vector<std::string> start_urls;  ///< their hosts were named by the user
  };
  explicit PrivateReach(const Options& options);

  Reach of(const RequestHead& request) const;
  /// For a TLS handshake, whose requests are not known yet.
  Reach of_handshake(const std::string& host) const;
  /// The request was sent to a private address, or to a public one.
  void reached(const RequestHead& request, bool is_private_address);

 private:
  bool is_private_host(const std::string& host) const;

  bool const all_;
  std::set<std::string> named_;
  bool public_page_ = false;             // one was requested: later requests may be its doing
  std::set<std::string> private_hosts_;  // those reached at private addresses
};

/// The names in a session that had public addresses. Such a name is never dialled at private ones,
/// which a page could access as its own site (DNS rebinding). Pure.
class PublicNames {
 public:
  static constexpr std::size_t kNamesMax = 65'536;  ///< beyond it every name counts as one

  /// Keeps only the addresses of `host` that may be dialled. False: none.
  bool keep_reachable(const std::string& host, Reach reach,
                      std::vector<net::ip::address>& addresses);

 private:
  std::set<std::string> names_;
};

}  // namespace reprise
