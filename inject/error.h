#pragma once

#include <system_error>

namespace reprise::inject {

/// What can be wrong with a body, a head or a script that is to be rewritten.
enum class errc {
  unknown_coding = 1,  ///< Content-Encoding names what nobody here can decode
  not_that_coding,     ///< the body is not coded as Content-Encoding says
  truncated,           ///< the coded body ends early
  too_large,           ///< decodes to more than the limit
  bomb,                ///< decodes to far more than its own size
  unfit_script,        ///< the script cannot stand in every document: not ASCII, or has "</script"
};

const std::error_category& category();
std::error_code make_error_code(errc error);

}  // namespace reprise::inject

template <>
struct std::is_error_code_enum<reprise::inject::errc> : std::true_type {};
