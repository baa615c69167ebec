#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace reprise {

/// The offer in a client's first TLS message. Unknown and GREASE values (RFC 8701) stay in the
/// lists in wire order: the recorder makes the same offer to the origin.
struct ClientHello {
  std::string server_name;              ///< lower case; empty without SNI
  std::vector<std::string> alpn;        ///< RFC 7301, in order
  std::vector<std::uint16_t> versions;  ///< supported_versions, or the legacy version
  std::vector<std::uint16_t> cipher_suites;
  std::vector<std::uint16_t> groups;  ///< supported_groups
  std::vector<std::uint16_t> signature_algorithms;
  std::vector<std::uint16_t> extensions;  ///< types, in order
};

/// The longest ClientHello accepted, including all record and handshake headers.
inline constexpr std::size_t kClientHelloBytesMax = 64 << 10;

enum class client_hello_errc { not_tls = 1, malformed, too_long, bad_server_name };
std::error_code make_error_code(client_hello_errc error);

/// Parses the ClientHello at the start of `stream`, the first bytes of a TLS client (RFC 8446
/// sections 4.1.2 and 5.1). The handshake message can be in several records, and the stream in
/// several reads. Returns nullopt while more bytes are needed. Pure. Errors: not_tls (it does not
/// start with a handshake record), malformed, too_long, bad_server_name (not a host name).
Result<std::optional<ClientHello>> parse_client_hello(std::span<const std::byte> stream);

}  // namespace reprise

template <>
struct std::is_error_code_enum<reprise::client_hello_errc> : std::true_type {};
