#include "dns/served_https.h"

#include <algorithm>

#include "dns/svcb.h"

namespace reprise::dns {
namespace {

constexpr std::string_view kH3 = "h3";

bool is_draft_of_h3(const std::string& protocol) {
  return protocol.starts_with("h3-");
}

}  // namespace

std::optional<Svcb> served_https(Svcb record,
                                 const std::vector<boost::asio::ip::address_v4>& stand_ins,
                                 const std::function<bool(const Name&)>& known, bool keeps_h3) {
  auto alpn = alpn_of(record);
  auto mandatory = mandatory_of(record);
  if (!alpn || !mandatory || !port_of(record)) return std::nullopt;
  if (record.target != Name() && !known(record.target)) return std::nullopt;

  std::erase_if(*alpn, is_draft_of_h3);
  if (!keeps_h3) std::erase(*alpn, kH3);
  bool const has_default = !find_param(record, kSvcNoDefaultAlpn);
  if (alpn->empty()) {
    // Without the default no protocol is left; with it, HTTP/1.1.
    if (!has_default) return std::nullopt;
    set_param(record, kSvcAlpn, std::nullopt);
  } else {
    set_param(record, kSvcAlpn, alpn_value(*alpn));
  }
  set_param(record, kSvcEch, std::nullopt);
  if (find_param(record, kSvcIpv4Hint) || find_param(record, kSvcIpv6Hint)) {
    std::vector<std::array<std::uint8_t, 4>> hints;
    for (const auto& address : stand_ins) hints.push_back(address.to_bytes());
    set_param(record, kSvcIpv6Hint, std::nullopt);
    set_param(record, kSvcIpv4Hint,
              hints.empty() ? std::nullopt : std::optional(ipv4_hint_value(hints)));
  }
  std::erase_if(*mandatory, [&](std::uint16_t key) { return !find_param(record, key); });
  set_param(record, kSvcMandatory,
            mandatory->empty() ? std::nullopt : std::optional(mandatory_value(*mandatory)));
  return record;
}

}  // namespace reprise::dns
