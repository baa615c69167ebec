#pragma once

// The normal form of hosts, for comparisons. Pure.

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::dns {

/// The normal form of a host: in lower case, without the dot at the end of a name; an IP literal
/// without brackets, in its shortest form, and an IPv4-mapped IPv6 address as IPv4. Punycode is
/// kept. Nothing if it is neither a literal nor a name of letters, digits, '-' and '_': nobody
/// looks up other names, and they would change the meaning of the lists that hosts are written to.
std::optional<std::string> normal_host(std::string_view host);

/// Parses "192.0.2.1", "2001:db8::1" and both with a port, "[2001:db8::1]:443". An IPv4-mapped IPv6
/// address becomes IPv4.
std::optional<boost::asio::ip::address> parse_address(std::string_view text);

/// Parses "ADDRESS:PORT", "[ADDRESS]:PORT", and, with a `default_port`, an address alone.
std::optional<boost::asio::ip::udp::endpoint> parse_endpoint(
    std::string_view text, std::optional<std::uint16_t> default_port);

}  // namespace reprise::dns
