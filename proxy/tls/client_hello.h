#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace reprise {

/// What a client offers in its first TLS message. Unknown and GREASE values (RFC 8701) are kept in
/// the lists in wire order: the recorder offers the origin the same.
struct ClientHello {
  std::string server_name;              ///< lower case; empty when there was no SNI
  std::vector<std::string> alpn;        ///< RFC 7301, in order
  std::vector<std::uint16_t> versions;  ///< supported_versions, or the legacy version
  std::vector<std::uint16_t> cipher_suites;
  std::vector<std::uint16_t> groups;  ///< supported_groups
  std::vector<std::uint16_t> signature_algorithms;
  std::vector<std::uint16_t> extensions;  ///< types, in order
};

/// The longest ClientHello that is read, all records and handshake headers included.
inline constexpr std::size_t kClientHelloBytesMax = 64 << 10;

enum class client_hello_errc { not_tls = 1, malformed, too_long };
std::error_code make_error_code(client_hello_errc error);

/// Reads the ClientHello at the start of `stream`, the first bytes a TLS client sent (RFC 8446
/// sections 4.1.2 and 5.1). The handshake message may be spread over several records, and the
/// stream over several reads. Returns nullopt while more bytes are needed. Pure.
/// Errors: not_tls (it does not start with a handshake record), malformed, too_long.
Result<std::optional<ClientHello>> parse_client_hello(std::span<const std::byte> stream);

}  // namespace reprise

template <>
struct std::is_error_code_enum<reprise::client_hello_errc> : std::true_type {};
