// What a Serving does about HTTP/3.

#include <boost/json.hpp>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/http/version.h"
#include "shaper/stream/segment.h"
#include "tools/commands.h"
#include "tools/serve/serving.h"

namespace reprise {

std::vector<std::uint16_t> H3Serving::ports_behind_link() const {
  std::set<std::uint16_t> ports{default_port(Scheme::kHttps)};
  for (auto const port : udp_ports) {
    if (port != kNamesPort && ports.size() < kShellPortsMax / 2) ports.insert(port);
  }
  return {ports.begin(), ports.end()};
}

/// Null if HTTP/3 can be served.
const char* Serving::why_no_h3() const {
  if (!H3Listener::available()) {
    return "this program was built without HTTP/3. Install libngtcp2-dev, "
           "libngtcp2-crypto-gnutls-dev and libnghttp3-dev (or run tools/setup) and build it again";
  }
  if (streamed_) {
    return "HTTP/3 needs a packet link: --shaper stream models TCP alone. Add -- COMMAND and, if "
           "it is missing, the permission that `reprise doctor` names";
  }
  bool const listens = linked_ != nullptr || addresses_.https.at;
  return listens ? nullptr : "HTTP/3 needs the HTTPS listener. Remove --https off";
}

std::optional<int> Serving::check_h3() {
  auto const* const wrong = options_.h3 ? why_no_h3() : nullptr;
  if (wrong == nullptr) return std::nullopt;
  if (options_.h3->required) {
    std::fprintf(stderr, "reprise: --protocol: %s\n", wrong);
    return kExitUsage;
  }
  std::fprintf(stderr,
               "reprise: hosts of the recording that offered HTTP/3 are served over TCP alone: "
               "%s\n",
               wrong);
  options_.h3.reset();
  return std::nullopt;
}

/// Of QUIC, as of TCP behind the link.
QuicCongestion Serving::congestion() const {
  if (linked_ != nullptr && options_.link.congestion == "bbr") return QuicCongestion::kBbr;
  if (linked_ != nullptr && options_.link.congestion == "reno") return QuicCongestion::kReno;
  return QuicCongestion::kCubic;
}

H3Listener::Options Serving::h3_listener_options() const {
  // Only those that browsers are led to: a host that offers HTTP/3 as recorded has recorded fields.
  auto hosts = std::make_shared<std::set<std::string, std::less<>>>();
  if (options_.h3) {
    for (auto const& [host, port] : options_.h3->led) hosts->insert(host);
  }
  return {.congestion = congestion(), .alt_svc_hosts = std::move(hosts)};
}

/// How the connections of each protocol begin to send: what a comparison must know
/// (docs/protocols.md).
boost::json::object Serving::transports_report() const {
  std::string const algorithm = linked_ != nullptr ? options_.link.congestion : "cubic";
  // Linux begins with ten segments (RFC 6928), and paces with bbr alone; the model is the same.
  boost::json::object const tcp{{"congestion", algorithm},
                                {"initial_window_bytes", 10 * kSegmentBytes},
                                {"paced", algorithm == "bbr"}};
  boost::json::object transports{{"h1", tcp}, {"h2", tcp}};
  if (options_.h3) {
    transports["h3"] = {{"congestion", algorithm},
                        {"initial_window_bytes", H3Listener::kInitialWindowBytes},
                        {"paced", true}};
  }
  return transports;
}

boost::json::object Serving::firefox_preferences() const {
  if (!options_.h3) return {};
  // Behind a link the ports are the origins'.
  auto const port = linked_ == nullptr ? addresses_.https.at->port() : std::uint16_t{0};
  return firefox_h3_preferences(options_.h3->led, port);
}

}  // namespace reprise
