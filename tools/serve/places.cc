#include "tools/serve/places.h"

#include <CLI/CLI.hpp>

#include "dns/host.h"

namespace reprise {

void PlaceOptions::add_to(CLI::App& command) {
  auto const group = "Listeners (ADDR:PORT, port 0 for any, or off)";
  command.add_option("--http", http, "Transparent HTTP (default 127.0.0.1:8080)")->group(group);
  command.add_option("--https", https, "Transparent HTTPS (default 127.0.0.1:8443)")->group(group);
  command.add_option("--proxy", proxy, "Explicit HTTP proxy (default 127.0.0.1:8081)")
      ->group(group);
  command.add_option("--dns", dns, "Stub resolver (default 127.0.0.1:8053)")->group(group);
  command.add_option("--admin", admin, "Status and control as JSON (default off)")->group(group);
  command.add_flag("--allow-remote", allow_remote, "Allow listeners that others can reach")
      ->group(group);
}

std::expected<Places, std::string> PlaceOptions::parse(UsualPlaces usual) const {
  Places places;
  struct Wanted {
    Place& place;
    const std::string& given;
    const char* known_port;  ///< nullptr: usually off
  };
  for (const auto& [place, given, known_port] :
       {Wanted{places.http, http, "8080"}, Wanted{places.https, https, "8443"},
        Wanted{places.proxy, proxy, "8081"}, Wanted{places.dns, dns, "8053"},
        Wanted{places.admin, admin, nullptr}}) {
    std::string text = given;
    if (text.empty()) {
      text = "off";
      if (known_port != nullptr && usual != UsualPlaces::kOff) {
        text = std::string("127.0.0.1:") + (usual == UsualPlaces::kAnyPorts ? "0" : known_port);
      }
    }
    if (text == "off") continue;
    auto const at = dns::parse_endpoint(text, std::nullopt);
    if (!at) {
      return std::unexpected(place.flag + ": '" + text +
                             "' is neither ADDR:PORT (127.0.0.1:8080) nor off");
    }
    if (!at->address().is_loopback() && !allow_remote) {
      return std::unexpected(place.flag + " " + text +
                             " can be reached from other machines: say --allow-remote if that is "
                             "meant");
    }
    place.at = tcp::endpoint(at->address(), at->port());
  }
  return places;
}

std::vector<std::string> routing_flags(const Places& bound, const std::string& rules) {
  auto const& [http, https, proxy, dns, admin] = bound;
  if (!http.at && !https.at) {
    if (!proxy.at) return {"--host-resolver-rules=MAP * ~NOTFOUND"};
    // Without the first rule it would look names up by itself, without the last not find the proxy;
    // loopback hosts go past a proxy by default.
    return {"--proxy-server=http://" + to_text(*proxy.at), "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND,EXCLUDE " + proxy.at->address().to_string()};
  }
  if (!rules.empty()) return {"--host-resolver-rules=" + rules};
  std::string all;
  auto const map = [&all](const char* pattern, const Place& place) {
    if (!place.at) return;
    all += (all.empty() ? "MAP " : ",MAP ") + std::string(pattern) + " " + to_text(*place.at);
  };
  map("*:80", http);
  map("*:443", https);
  // Both listeners tell TLS from clear text by the first byte, so either takes any other port.
  map("*", https.at ? https : http);
  return {"--host-resolver-rules=" + all};
}

}  // namespace reprise
