#pragma once

#include <string>
#include <string_view>

namespace reprise {

/// Whether all of `text` is as `pattern` says, in which `*` stands for any bytes, none included,
/// and all else for itself. Takes at most the product of both lengths.
bool matches_glob(std::string_view pattern, std::string_view text);

/// ASCII letters in lower case, all else as it is.
std::string lower_case(std::string_view text);

}  // namespace reprise
