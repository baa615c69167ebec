#pragma once

#include <string_view>

namespace reprise {

/// Whether `glob` matches all of `text`: '*' matches any bytes, other characters match themselves,
/// case-sensitive. Takes at most the product of both lengths.
bool fits_glob(std::string_view glob, std::string_view text);

}  // namespace reprise
