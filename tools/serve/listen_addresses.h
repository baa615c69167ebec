#pragma once

// Where record and replay listen.

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

/// Where one listener is, or is to be.
struct ListenAddress {
  std::string flag;                 ///< that names it: "--http"
  std::optional<tcp::endpoint> at;  ///< nothing: off
};

/// First as wanted, after the start as bound.
struct ListenAddresses {
  ListenAddress http{.flag = "--http", .at = {}};
  ListenAddress https{.flag = "--https", .at = {}};
  ListenAddress proxy{.flag = "--proxy", .at = {}};
  ListenAddress dns{.flag = "--dns", .at = {}};  ///< UDP and TCP
  ListenAddress admin{.flag = "--admin", .at = {}};
};

/// What stands for a listener that the command line does not mention. The admin is off.
enum class DefaultAddresses : std::uint8_t {
  kKnownPorts,  ///< on loopback, where users expect them
  kAnyPorts,    ///< on loopback: nobody types them, and several runs must not collide
  kOff
};

/// The listeners as the command line has them: ADDR:PORT, "off", or empty for what is usual.
struct ListenOptions {
  std::string http;
  std::string https;
  std::string proxy;
  std::string dns;
  std::string admin;
  bool allow_remote = false;

  void add_to(CLI::App& command);
  /// The error is a sentence that names the flag. An address that other machines can reach is one,
  /// unless that is allowed.
  std::expected<ListenAddresses, std::string> parse(DefaultAddresses usual) const;
};

/// What leads Chromium to the listeners, as `bound`, and nowhere else whatever listeners there are.
/// `rules` is where hosts are (--host-resolver-rules); empty: all at the listeners' addresses.
std::vector<std::string> routing_flags(const ListenAddresses& bound, const std::string& rules);

}  // namespace reprise
