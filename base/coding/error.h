#pragma once

#include <system_error>

namespace reprise::coding {

/// Errors of coded bodies.
enum class errc {
  unknown_coding = 1,  ///< Content-Encoding names an unsupported coding
  not_that_coding,     ///< the body does not match its Content-Encoding
  truncated,           ///< the coded body ends early
  too_large,           ///< decodes to more than the limit
  bomb,                ///< decodes to far more than its own size
};

const std::error_category& category();
std::error_code make_error_code(errc error);

}  // namespace reprise::coding

template <>
struct std::is_error_code_enum<reprise::coding::errc> : std::true_type {};
