#pragma once

#include <system_error>

namespace reprise::inject {

/// Errors in rewriting a body, a head or a script.
enum class errc {
  unfit_script = 1,  ///< the script is not valid in every document: not ASCII, or has "</script"
};

const std::error_category& category();
std::error_code make_error_code(errc error);

}  // namespace reprise::inject

template <>
struct std::is_error_code_enum<reprise::inject::errc> : std::true_type {};
