#include "tools/serve/spoken_protocols.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/serve/h3_offers.h"

namespace reprise {
namespace {

/// What each host speaks over TCP, on any port.
std::map<std::string, std::set<std::string>> over_tcp(const TlsPlans& plans, bool has_web_sockets) {
  std::map<std::string, std::set<std::string>> spoken;
  for (const TlsHost& each : plans.hosts()) {
    auto& of_host = spoken[each.host];
    of_host.insert(each.protocol);
    // `protocol=h2` would have them over HTTP/2, too.
    bool const apart = has_web_sockets && !plans.of(each.host, each.port).web_sockets;
    if (each.protocol == "h2" && apart) of_host.insert("http/1.1");
  }
  return spoken;
}

}  // namespace

Protocol protocol_of(const std::string& text) {
  if (text == "h1") return Protocol::kH1;
  if (text == "h3") return Protocol::kH3;
  return text == "h2" ? Protocol::kH2 : Protocol::kRecorded;
}

whatif::SpokenProtocols spoken_protocols(const ArchiveReader& archive, std::uint32_t session,
                                         const std::vector<std::string>& protocols) {
  std::set<std::string> offers;
  for (const H3Offer& each : h3_offers(archive, session)) offers.insert(each.host);
  bool const has_web_sockets = std::ranges::any_of(
      archive.messages(), [&](auto const& place) { return place.owner.session == session; });
  whatif::SpokenProtocols all;
  all.values = protocols.size();
  for (const std::string& text : protocols) {
    TlsPlans const plans(archive, session, protocol_of(text));
    bool const with_offers = text == "recorded" || text == "h3-known";
    for (auto const& [host, spoken] : over_tcp(plans, has_web_sockets)) {
      bool const offers_h3 = with_offers && offers.contains(host);
      if (plans.speaks_h3(host) || (offers_h3 && text == "h3-known")) {
        all.with[host]["h3"].push_back(text);
      } else if (!offers_h3 && spoken.size() == 1) {
        all.with[host][*spoken.begin()].push_back(text);
      }
    }
  }
  return all;
}

}  // namespace reprise
