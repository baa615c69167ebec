#pragma once

// The addresses that record and replay listen on.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "proxy/stream/net.h"

namespace CLI {
class App;
}

namespace reprise {

/// The address of one listener.
struct ListenAddress {
  std::string flag;                 ///< its option: "--http"
  std::optional<tcp::endpoint> at;  ///< nothing: off
};

/// Before the start as requested, after it as bound.
struct ListenAddresses {
  ListenAddress http{.flag = "--http", .at = {}};
  ListenAddress https{.flag = "--https", .at = {}};
  ListenAddress proxy{.flag = "--proxy", .at = {}};
  ListenAddress dns{.flag = "--dns", .at = {}};  ///< UDP and TCP
  ListenAddress admin{.flag = "--admin", .at = {}};
};

/// The default for listeners that the command line does not mention. The admin is always off.
enum class DefaultAddresses : std::uint8_t {
  kKnownPorts,  ///< on loopback, where users expect them
  kAnyPorts,    ///< on loopback, free ports: several runs must not collide
  kOff
};

/// The listeners as on the command line: ADDR:PORT, "off", or empty for the default.
struct ListenOptions {
  std::string http;
  std::string https;
  std::string proxy;
  std::string dns;
  std::string admin;
  bool allow_remote = false;

  void add_to(CLI::App& command);
  /// The error is a sentence that names the option. An address that other machines can reach is an
  /// error unless `allow_remote`; so is a wildcard address of a listener whose address a resolver
  /// that other machines can reach would have to give them.
  std::expected<ListenAddresses, std::string> parse(DefaultAddresses usual) const;
};

/// Keeps Chromium from the proxies in the environment, which would lead past us, unless its `flags`
/// name a proxy.
void keep_from_proxies(std::vector<std::string>& flags);

/// Chromium flags that lead to the listeners in `bound`, and nowhere else. `rules` maps hosts
/// (--host-resolver-rules); empty: all hosts are at the listeners' addresses.
std::vector<std::string> routing_flags(const ListenAddresses& bound, const std::string& rules);

}  // namespace reprise
