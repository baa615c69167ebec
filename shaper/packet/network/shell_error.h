#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <system_error>

namespace reprise {

/// Why a packet shell cannot be. An error code alone would not say which of thirty steps failed,
/// and this is read by people who must then change their system.
struct ShellError {
  std::string what;      ///< what could not be done, and the system's reason
  std::string fix;       ///< what to do about it; may be empty
  std::error_code code;  ///< of the system call that failed
};

template <class T>
using ShellResult = std::expected<T, ShellError>;

/// An error of the system call that has just failed.
inline std::unexpected<ShellError> shell_failure(const std::string& what, std::string fix = {},
                                                 int error = errno) {
  std::error_code const code(error, std::system_category());
  return std::unexpected(ShellError{what + ": " + code.message(), std::move(fix), code});
}

}  // namespace reprise
