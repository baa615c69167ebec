#pragma once

// The messages of SOCKS5 (RFC 1928), without authentication, for CONNECT alone. Pure.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace reprise::tsproxy {

enum class SocksReply : std::uint8_t {
  kSucceeded = 0,
  kFailed = 1,
  kHostUnreachable = 4,
  kCommandNotSupported = 7,
  kAddressNotSupported = 8,
};

enum class SocksFault : std::uint8_t {
  kIncomplete,    ///< more bytes are needed
  kNotSocks,      ///< close the connection
  kNoMethod,      ///< the client insists on authentication
  kNotSupported,  ///< of CONNECT: another command
  kBadAddress,    ///< of CONNECT: an unknown type of address
};

/// The longest message: a name of 255 bytes.
inline constexpr std::size_t kSocksBytesMax = 262;

/// The client's first message. Returns its size in bytes.
std::expected<std::size_t, SocksFault> read_greeting(std::span<const std::uint8_t> bytes);
/// The answer to it: no authentication, or that there is no method in common.
std::vector<std::uint8_t> greeting_answer(bool accepted);

struct SocksRequest {
  std::string host;  ///< a name, or an address as text
  std::uint16_t port = 0;
  std::size_t size = 0;  ///< of the message, in bytes
};
std::expected<SocksRequest, SocksFault> read_request(std::span<const std::uint8_t> bytes);
/// The answer to a request; its bound address is 0.0.0.0:0.
std::vector<std::uint8_t> request_answer(SocksReply reply);

}  // namespace reprise::tsproxy
