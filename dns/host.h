#pragma once

// How hosts are written, so that they can be compared. Pure.

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise::dns {

/// A host in the one way that it is written here: in lower case, without the dot that a name may
/// end with; an IP literal without brackets, in the shortest form, and an IPv4 address as such even
/// where it was written as IPv6. Punycode stays as it is. Nothing when it is neither a literal nor
/// a name of letters, digits, '-' and '_': other names are not looked up by anybody, and would mean
/// something else in the lists that hosts are written into.
std::optional<std::string> normal_host(std::string_view host);

/// Reads "192.0.2.1", "2001:db8::1" and both with a port, "[2001:db8::1]:443". An IPv4 address
/// written as IPv6 is one.
std::optional<boost::asio::ip::address> parse_address(std::string_view text);

/// Reads "ADDRESS:PORT", "[ADDRESS]:PORT", and an address alone where there is a `default_port`.
std::optional<boost::asio::ip::udp::endpoint> parse_endpoint(
    std::string_view text, std::optional<std::uint16_t> default_port);

}  // namespace reprise::dns
