#include "tools/serve/listen_addresses.h"

#include <algorithm>
#include <cstdlib>

#include "dns/host.h"
#include "tools/process/command_line.h"

namespace reprise {

void ListenOptions::add_to(CLI::App& command) {
  auto const group =
      "Listeners (ADDR:PORT or off; port 0: any free port. Defaults: with a command or URLs free "
      "ports, "
      "behind a link off, otherwise as below)";
  command.add_option("--http", http, "Listen here for transparent HTTP [127.0.0.1:8080]")
      ->group(group);
  command.add_option("--https", https, "Listen here for transparent HTTPS [127.0.0.1:8443]")
      ->group(group);
  command.add_option("--proxy", proxy, "Listen here as an explicit HTTP proxy [127.0.0.1:8081]")
      ->group(group);
  command.add_option("--dns", dns, "Listen here as a stub resolver [127.0.0.1:8053]")->group(group);
  command.add_option("--admin", admin, "Listen here for status and control, as JSON [off]")
      ->group(group);
  command.add_flag("--allow-remote", allow_remote, "Allow listeners that other machines can reach")
      ->group(group);
}

std::expected<ListenAddresses, std::string> ListenOptions::parse(DefaultAddresses usual) const {
  ListenAddresses addresses;
  struct Wanted {
    ListenAddress& address;
    const std::string& given;
    const char* known_port;  ///< nullptr: off by default
  };
  for (const auto& [address, given, known_port] :
       {Wanted{addresses.http, http, "8080"}, Wanted{addresses.https, https, "8443"},
        Wanted{addresses.proxy, proxy, "8081"}, Wanted{addresses.dns, dns, "8053"},
        Wanted{addresses.admin, admin, nullptr}}) {
    std::string text = given;
    if (text.empty()) {
      text = "off";
      if (known_port != nullptr && usual != DefaultAddresses::kOff) {
        text =
            std::string("127.0.0.1:") + (usual == DefaultAddresses::kAnyPorts ? "0" : known_port);
      }
    }
    if (text == "off") continue;
    auto const at = dns::parse_endpoint(text, std::nullopt);
    if (!at) {
      return std::unexpected(address.flag + ": '" + text +
                             "' is neither ADDR:PORT, such as 127.0.0.1:8080, nor off");
    }
    if (!at->address().is_loopback() && !allow_remote) {
      return std::unexpected(
          address.flag + " " + text +
          " can be reached from other machines. Add --allow-remote to permit it");
    }
    address.at = tcp::endpoint(at->address(), at->port());
  }
  if (!addresses.dns.at || addresses.dns.at->address().is_loopback()) return addresses;
  for (const ListenAddress* const each : {&addresses.https, &addresses.http}) {
    if (!each->at || !each->at->address().is_unspecified()) continue;
    return std::unexpected("--dns cannot tell other machines where the listener of " + each->flag +
                           " is: " + each->at->address().to_string() +
                           " is every address of this machine. Give " + each->flag +
                           " the address that other machines use");
  }
  return addresses;
}

void keep_from_proxies(std::vector<std::string>& flags) {
  static constexpr const char* kVariables[] = {"http_proxy", "https_proxy", "all_proxy",
                                               "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
                                               "auto_proxy"};
  bool const named = std::ranges::any_of(kVariables, [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  });
  bool const ours = std::ranges::any_of(
      flags, [](const std::string& flag) { return flag.starts_with("--proxy-server="); });
  // The headless shell ignores --no-proxy-server.
  if (named && !ours) flags.emplace_back("--proxy-server=direct://");
}

std::vector<std::string> routing_flags(const ListenAddresses& bound, const std::string& rules) {
  auto const& [http, https, proxy, dns, admin] = bound;
  if (!http.at && !https.at) {
    if (!proxy.at) return {"--host-resolver-rules=MAP * ~NOTFOUND"};
    // Without the first rule it would look up names by itself, without the last not find the proxy;
    // by default a proxy is not used for loopback hosts.
    return {"--proxy-server=http://" + to_text(*proxy.at), "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE " + proxy.at->address().to_string()};
  }
  if (!rules.empty()) return {"--host-resolver-rules=" + rules};
  std::string all;
  auto const map = [&all](const char* pattern, const ListenAddress& address) {
    if (!address.at) return;
    all += (all.empty() ? "MAP " : ",MAP ") + std::string(pattern) + " " + to_text(*address.at);
  };
  map("*:80", http);
  map("*:443", https);
  // Both listeners distinguish TLS and plain text by the first byte, so either can serve other
  // ports.
  map("*", https.at ? https : http);
  return {"--host-resolver-rules=" + all};
}

}  // namespace reprise
