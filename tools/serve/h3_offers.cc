#include "tools/serve/h3_offers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "dns/svcb.h"
#include "dns/wire.h"
#include "proxy/http/alt_svc.h"

namespace reprise {
namespace {

class Offers {
 public:
  H3Offer& at(const std::string& host, std::uint16_t port, std::uint16_t udp_port) {
    auto const [place, added] = offers_.try_emplace({host, port, udp_port});
    if (added) place->second = {.host = host, .port = port, .udp_port = udp_port};
    return place->second;
  }

  void take(const DnsAnswer& answer) {
    for (const std::string& bytes : answer.https) {
      auto const record = dns::decode_svcb(bytes);
      if (!record) continue;
      auto const alpn = dns::alpn_of(*record);
      auto const port = dns::port_of(*record);
      if (!alpn || !port || std::ranges::find(*alpn, "h3") == alpn->end()) continue;
      auto const origin_port = default_port(Scheme::kHttps);
      at(answer.host, origin_port, port->value_or(origin_port)).by_record = true;
    }
  }

  void take(const StoredRequest& request, const StoredReply& reply) {
    for (const HeaderView& field : reply.headers.list()) {
      if (!equals_ignoring_case(field.name, "Alt-Svc")) continue;
      for (const H3Alternative& each : h3_alternatives(field.value)) {
        at(request.host, request.port, each.port).by_header = true;
      }
    }
    if (reply.version == HttpVersion::kH3) {
      at(request.host, request.port, request.port).by_import = true;
    }
  }

  std::vector<H3Offer> list() const {
    std::vector<H3Offer> all;
    for (auto const& [place, offer] : offers_) all.push_back(offer);
    return all;
  }

 private:
  std::map<std::tuple<std::string, std::uint16_t, std::uint16_t>, H3Offer> offers_;
};

}  // namespace

std::vector<H3Offer> h3_offers(const ArchiveReader& archive, std::uint32_t session) {
  Offers offers;
  for (const DnsAnswer& answer : archive.answers()) {
    if (answer.session == session) offers.take(answer);
  }
  for (std::uint32_t ordinal = 0; ordinal < archive.entries().size(); ++ordinal) {
    if (archive.entries()[ordinal].session != session) continue;
    auto const site = archive.site(ordinal);
    if (!site || site->scheme != Scheme::kHttps) continue;
    if (auto const exchange = archive.exchange(ordinal)) {
      offers.take(exchange->request, exchange->response);
    }
  }
  return offers.list();
}

}  // namespace reprise
