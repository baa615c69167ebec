#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <system_error>

namespace reprise {

/// Why a packet shell cannot start. An error code alone would not tell which of thirty steps
/// failed, and users must change their system because of it.
struct ShellError {
  std::string what;      ///< the failed step, and the system's reason
  std::string fix;       ///< the remedy; may be empty
  std::error_code code;  ///< of the system call that failed
};

template <class T>
using ShellResult = std::expected<T, ShellError>;

/// An error of the last system call.
inline std::unexpected<ShellError> shell_failure(const std::string& what, std::string fix = {},
                                                 int error = errno) {
  std::error_code const code(error, std::system_category());
  return std::unexpected(ShellError{what + ": " + code.message(), std::move(fix), code});
}

}  // namespace reprise
