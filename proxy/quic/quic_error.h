#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>

namespace reprise {

/// Errors of a QUIC connection, by ngtcp2's codes (NGTCP2_ERR_...).
std::error_code quic_error(int library_code);
/// The client closed the connection with that transport error (RFC 9000 section 20.1).
std::error_code quic_closed_with(std::uint64_t transport_code);
/// The TLS alert with which the client closed, if the error is one.
std::optional<int> client_alert_of(std::error_code error);

/// The code of a stream that ended without one.
inline constexpr std::uint64_t kNoCode = std::numeric_limits<std::uint64_t>::max();

}  // namespace reprise
