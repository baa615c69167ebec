#include "dns/host.h"

#include <algorithm>
#include <charconv>

#include "base/text/ascii.h"
#include "dns/name.h"

namespace reprise::dns {
namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address> parse_literal(std::string_view text) {
  // The scope of a link-local address is valid on one machine only.
  if (text.find_first_not_of("0123456789abcdefABCDEF:.") != text.npos) return std::nullopt;
  boost::system::error_code error;
  auto const address = ip::make_address(text, error);
  if (error) return std::nullopt;
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
  }
  return address;
}

bool is_name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || is_digit(letter) || letter == '-' || letter == '_' ||
         letter == '.';
}

}  // namespace

std::optional<ip::address> parse_address(std::string_view text) {
  if (text.starts_with('[')) {
    auto const end = text.find(']');
    if (end == text.npos) return std::nullopt;
    auto const behind = text.substr(end + 1);
    if (!behind.empty() && behind.front() != ':') return std::nullopt;
    return parse_literal(text.substr(1, end - 1));
  }
  if (std::ranges::count(text, ':') == 1) text = text.substr(0, text.find(':'));
  return parse_literal(text);
}

std::optional<ip::udp::endpoint> parse_endpoint(std::string_view text,
                                                std::optional<std::uint16_t> default_port) {
  auto const address = parse_address(text);
  if (!address) return std::nullopt;
  bool const bracketed = text.starts_with('[');
  auto const colon = bracketed                            ? text.find(':', text.find(']'))
                     : std::ranges::count(text, ':') == 1 ? text.find(':')
                                                          : text.npos;
  if (colon == text.npos) {
    if (!default_port) return std::nullopt;
    return ip::udp::endpoint(*address, *default_port);
  }
  auto const digits = text.substr(colon + 1);
  std::uint16_t port = 0;
  auto const* const end = digits.data() + digits.size();
  auto const [read_to, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc() || read_to != end) return std::nullopt;
  return ip::udp::endpoint(*address, port);
}

std::optional<std::string> normal_host(std::string_view host) {
  if (auto const literal = parse_literal(host)) return literal->to_string();
  if (host.starts_with('[') && host.ends_with(']')) {
    auto const literal = parse_literal(host.substr(1, host.size() - 2));
    if (!literal) return std::nullopt;
    return literal->to_string();
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string name(host);
  std::ranges::transform(name, name.begin(), to_lower);
  if (!std::ranges::all_of(name, is_name_letter) || !Name::parse(name)) return std::nullopt;
  if (name.ends_with('.')) return std::nullopt;
  return name;
}

}  // namespace reprise::dns
