#include "proxy/record/private_reach.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/http/h1_parser.h"
#include "dns/host.h"

namespace reprise {
namespace {

bool is_private_v4(const net::ip::address_v4& address) {
  struct Network {
    std::uint32_t base;
    int bits;
  };
  constexpr std::array<Network, 10> kNetworks{{{0x00000000, 8},    // 0.0.0.0, this host
                                               {0x0A000000, 8},    // 10.0.0.0
                                               {0x64400000, 10},   // 100.64.0.0
                                               {0x7F000000, 8},    // 127.0.0.0
                                               {0xA9FE0000, 16},   // 169.254.0.0
                                               {0xAC100000, 12},   // 172.16.0.0
                                               {0xC0A80000, 16},   // 192.168.0.0
                                               {0xC6120000, 15},   // 198.18.0.0
                                               {0xE0000000, 4},    // 224.0.0.0, multicast
                                               {0xF0000000, 4}}};  // 240.0.0.0, broadcast in it
  auto const value = address.to_uint();
  return std::ranges::any_of(kNetworks, [value](const Network& network) {
    return (value ^ network.base) >> (32 - network.bits) == 0;
  });
}

/// The IPv4 address that an IPv6 address leads to: mapped, or translated (RFC 6052).
std::optional<net::ip::address_v4> inner_v4(const net::ip::address_v6& address) {
  constexpr std::array<unsigned char, 12> kTranslated{0x00, 0x64, 0xFF, 0x9B};
  constexpr std::array<unsigned char, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  auto const bytes = address.to_bytes();
  if (!std::ranges::equal(kTranslated, std::span(bytes).first<12>()) &&
      !std::ranges::equal(kMapped, std::span(bytes).first<12>())) {
    return std::nullopt;
  }
  return net::ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]});
}

bool is_private_v6(const net::ip::address_v6& address) {
  if (auto const inner = inner_v4(address)) return is_private_v4(*inner);
  auto const first = address.to_bytes()[0];
  return address.is_loopback() || address.is_unspecified() || address.is_link_local() ||
         address.is_site_local() || address.is_multicast() || (first & 0xFE) == 0xFC;
}

/// The host of a URL, with or without a scheme, or empty.
std::string host_of(std::string_view url) {
  auto const scheme_end = url.find("://");
  auto const rest = scheme_end == std::string_view::npos ? url : url.substr(scheme_end + 3);
  auto const authority = parse_authority(rest.substr(0, rest.find_first_of("/?#")), 443);
  return authority ? authority->host.text() : std::string();
}

/// The initiator, by fields that a browser sets and no page can change; empty if unknown.
std::string initiator_of(const RequestHead& request) {
  auto const origin = find_header(request.headers, "Origin");
  auto const from = origin && *origin != "null" ? origin : find_header(request.headers, "Referer");
  return from ? host_of(*from) : std::string();
}

/// Pages can neither hide nor change these fields.
bool is_of_a_browser(const RequestHead& request) {
  auto const agent = find_header(request.headers, "User-Agent");
  return (agent && agent->find("Mozilla/") != std::string_view::npos) ||
         find_header(request.headers, "Sec-Fetch-Site") || find_header(request.headers, "Origin") ||
         find_header(request.headers, "Referer");
}

bool asks_for_a_page(const RequestHead& request) {
  auto const accept = find_header(request.headers, "Accept");
  return accept && accept->find("text/html") != std::string_view::npos;
}

}  // namespace

bool is_private(const net::ip::address& address) {
  return address.is_v4() ? is_private_v4(address.to_v4()) : is_private_v6(address.to_v6());
}

PrivateReach::PrivateReach(const Options& options) : all_(options.all) {
  for (const std::string& url : options.start_urls) named_.insert(host_of(url));
}

bool PrivateReach::is_private_host(const std::string& host) const {
  if (auto const literal = dns::parse_address(host)) return is_private(*literal);
  return host == "localhost" || host.ends_with(".localhost") || private_hosts_.contains(host);
}

Reach PrivateReach::of(const RequestHead& request) const {
  if (all_ || !is_of_a_browser(request)) return Reach::kAll;
  if (named_.contains(std::string(request.host))) return Reach::kAll;
  if (find_header(request.headers, "Sec-Fetch-Site") == "same-origin") return Reach::kAll;
  auto const initiator = initiator_of(request);
  bool const trusted = initiator.empty() ? !public_page_ : is_private_host(initiator);
  return trusted ? Reach::kAll : Reach::kPublicOnly;
}

Reach PrivateReach::of_handshake(const std::string& host) const {
  bool const trusted =
      all_ || !public_page_ || private_hosts_.contains(host) || named_.contains(host);
  return trusted ? Reach::kAll : Reach::kPublicOnly;
}

void PrivateReach::reached(const RequestHead& request, bool is_private_address) {
  if (is_private_address) {
    if (private_hosts_.size() < kHostsMax) private_hosts_.emplace(request.host);
  } else if (is_of_a_browser(request) && asks_for_a_page(request)) {
    public_page_ = true;
  }
}

bool PublicNames::keep_reachable(const std::string& host, Reach reach,
                                 std::vector<net::ip::address>& addresses) {
  bool const is_literal = dns::parse_address(host).has_value();
  bool const known = names_.size() >= kNamesMax || names_.contains(host);
  bool const is_public = known || !std::ranges::all_of(addresses, is_private);
  if (!is_literal && is_public) {
    if (!known) names_.insert(host);
    reach = Reach::kPublicOnly;
  }
  if (reach == Reach::kPublicOnly) std::erase_if(addresses, is_private);
  return !addresses.empty();
}

}  // namespace reprise
