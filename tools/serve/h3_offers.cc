#include "tools/serve/h3_offers.h"

#include <algorithm>

#include "base/text/white_space.h"
#include "dns/svcb.h"
#include "dns/wire.h"

namespace reprise {
namespace {

bool names_h3(const DnsAnswer& answer) {
  return std::ranges::any_of(answer.https, [](const std::string& bytes) {
    auto const record = dns::decode_svcb(bytes);
    auto const alpn = record ? dns::alpn_of(*record) : fail(record.error());
    return alpn && std::ranges::find(*alpn, "h3") != alpn->end();
  });
}

bool has_offer(const Exchange& exchange) {
  return std::ranges::any_of(exchange.response.headers.list(), [](const HeaderView& field) {
    return equals_ignoring_case(field.name, "Alt-Svc") && offers_h3(field.value);
  });
}

}  // namespace

bool offers_h3(std::string_view alt_svc) {
  while (!alt_svc.empty()) {
    // Quoted texts here are authorities, which have no commas.
    auto const end = std::min(alt_svc.find(','), alt_svc.size());
    if (trim(alt_svc.substr(0, end)).starts_with("h3=\":")) return true;
    alt_svc.remove_prefix(std::min(end + 1, alt_svc.size()));
  }
  return false;
}

std::set<std::string> hosts_that_offered_h3(const ArchiveReader& archive, std::uint32_t session) {
  std::set<std::string> hosts;
  for (const DnsAnswer& answer : archive.answers()) {
    if (answer.session == session && names_h3(answer)) hosts.insert(answer.host);
  }
  for (std::uint32_t ordinal = 0; ordinal < archive.entries().size(); ++ordinal) {
    if (archive.entries()[ordinal].session != session) continue;
    auto const site = archive.site(ordinal);
    if (!site || site->scheme != Scheme::kHttps) continue;
    std::string host(site->host);
    if (hosts.contains(host)) continue;
    auto const exchange = archive.exchange(ordinal);
    bool const offered = site->version == HttpVersion::kH3 || (exchange && has_offer(*exchange));
    if (offered) hosts.insert(std::move(host));
  }
  return hosts;
}

}  // namespace reprise
