#pragma once

#include <system_error>

namespace reprise::inject {

/// What can be wrong with a body, a head or a script that is to be rewritten.
enum class errc {
  unfit_script = 1,  ///< the script cannot stand in every document: not ASCII, or has "</script"
};

const std::error_category& category();
std::error_code make_error_code(errc error);

}  // namespace reprise::inject

template <>
struct std::is_error_code_enum<reprise::inject::errc> : std::true_type {};
