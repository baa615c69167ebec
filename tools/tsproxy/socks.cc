#include "tools/tsproxy/socks.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

namespace reprise::tsproxy {
namespace {

constexpr std::uint8_t kVersion = 5;
constexpr std::uint8_t kNoAuthentication = 0;
constexpr std::uint8_t kNoMethod = 0xff;
constexpr std::uint8_t kConnect = 1;
constexpr std::uint8_t kIpv4 = 1;
constexpr std::uint8_t kName = 3;
constexpr std::uint8_t kIpv6 = 4;
constexpr std::size_t kPortBytes = 2;

template <class Address>
std::string address_text(std::span<const std::uint8_t> bytes) {
  typename Address::bytes_type raw;
  std::copy_n(bytes.begin(), raw.size(), raw.begin());
  return Address(raw).to_string();
}

}  // namespace

std::expected<std::size_t, SocksFault> read_greeting(std::span<const std::uint8_t> bytes) {
  if (!bytes.empty() && bytes[0] != kVersion) return std::unexpected(SocksFault::kNotSocks);
  if (bytes.size() < 2) return std::unexpected(SocksFault::kIncomplete);
  std::size_t const size = 2U + bytes[1];
  if (bytes.size() < size) return std::unexpected(SocksFault::kIncomplete);
  auto const methods = bytes.subspan(2, bytes[1]);
  if (std::ranges::find(methods, kNoAuthentication) == methods.end()) {
    return std::unexpected(SocksFault::kNoMethod);
  }
  return size;
}

std::vector<std::uint8_t> greeting_answer(bool accepted) {
  return {kVersion, accepted ? kNoAuthentication : kNoMethod};
}

std::expected<SocksRequest, SocksFault> read_request(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kHeadBytes = 4;  // version, command, reserved, type of address
  if (!bytes.empty() && bytes[0] != kVersion) return std::unexpected(SocksFault::kNotSocks);
  if (bytes.size() <= kHeadBytes) return std::unexpected(SocksFault::kIncomplete);
  if (bytes[1] != kConnect) return std::unexpected(SocksFault::kNotSupported);
  auto rest = bytes.subspan(kHeadBytes);
  std::size_t length = 0;
  switch (bytes[3]) {
    case kIpv4:
      length = 4;
      break;
    case kIpv6:
      length = 16;
      break;
    case kName:
      length = rest[0];
      rest = rest.subspan(1);
      break;
    default:
      return std::unexpected(SocksFault::kBadAddress);
  }
  if (rest.size() < length + kPortBytes) return std::unexpected(SocksFault::kIncomplete);
  SocksRequest request;
  if (bytes[3] == kName) request.host.assign(rest.begin(), rest.begin() + static_cast<int>(length));
  if (bytes[3] == kIpv4) request.host = address_text<boost::asio::ip::address_v4>(rest);
  if (bytes[3] == kIpv6) request.host = address_text<boost::asio::ip::address_v6>(rest);
  request.port = static_cast<std::uint16_t>(rest[length] << 8 | rest[length + 1]);
  request.size = bytes.size() - rest.size() + length + kPortBytes;
  return request;
}

std::vector<std::uint8_t> request_answer(SocksReply reply) {
  return {kVersion, static_cast<std::uint8_t>(reply), 0, kIpv4, 0, 0, 0, 0, 0, 0};
}

}  // namespace reprise::tsproxy
