#pragma once

#include <system_error>

namespace reprise::coding {

/// What can be wrong with a coded body.
enum class errc {
  unknown_coding = 1,  ///< Content-Encoding names what nobody here can decode
  not_that_coding,     ///< the body is not coded as Content-Encoding says
  truncated,           ///< the coded body ends early
  too_large,           ///< decodes to more than the limit
  bomb,                ///< decodes to far more than its own size
};

const std::error_category& category();
std::error_code make_error_code(errc error);

}  // namespace reprise::coding

template <>
struct std::is_error_code_enum<reprise::coding::errc> : std::true_type {};
