#pragma once

// The options of `record` about origins: how they are reached, and what they get.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "proxy/record/network_dialer.h"
#include "proxy/record/request_rules.h"

namespace CLI {
class App;
}

namespace reprise {

struct OriginOptions {
  std::vector<std::string> connect_to;
  std::vector<std::string> dns_servers;
  std::filesystem::path origin_ca;
  bool insecure_origin = false;
  bool allow_private = false;
  std::string upstream_proxy;  ///< empty: as the environment says
  std::vector<std::string> client_certificates;
  std::vector<std::string> headers;
  std::vector<std::string> blocked;

  void add_to(CLI::App& command);

  /// Nothing after an error, which has been printed.
  std::optional<NetworkDialer::Options> dialing() const;
  std::optional<RequestRules> rules() const;
};

/// A command line for the archive: without the passwords of --upstream-proxy and the values of
/// --header.
std::vector<std::string> without_secrets(std::vector<std::string> command_line);

}  // namespace reprise
