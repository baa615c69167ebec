#pragma once

#include <cerrno>
#include <system_error>

namespace reprise {

/// errno as an error code.
inline std::error_code last_system_error() {
  return {errno, std::generic_category()};
}

}  // namespace reprise
