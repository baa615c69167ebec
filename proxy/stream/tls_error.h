#pragma once

#include <system_error>

namespace reprise {

/// Errors of OpenSSL, by its packed error code.
const std::error_category& tls_category();
/// Not an OpenSSL code, which are positive: the peer ended the connection.
inline constexpr int kTlsBrokenOff = -1;

}  // namespace reprise
