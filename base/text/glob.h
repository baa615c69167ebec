#pragma once

#include <string_view>

namespace reprise {

/// Whether all of `text` is what `glob` says: '*' stands for any bytes, all else for itself. Case
/// counts. Takes at most the product of both lengths.
bool fits_glob(std::string_view glob, std::string_view text);

}  // namespace reprise
