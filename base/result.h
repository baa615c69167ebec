#pragma once

#include <expected>
#include <system_error>

namespace reprise {

/// The result of an operation with expected failures: network, files, peers, user input. A broken
/// invariant is not a Result; it aborts.
template <class T>
using Result = std::expected<T, std::error_code>;

inline std::unexpected<std::error_code> fail(std::error_code error) {
  return std::unexpected(error);
}

}  // namespace reprise
