#pragma once

#include <string>
#include <string_view>

namespace reprise {

/// Whether shells and other splitters read all of it as itself. An empty text is none of these.
bool is_plain_word(std::string_view text);

/// One word of a POSIX shell's command line, quoted if it has to be.
std::string shell_quoted(std::string_view text);

}  // namespace reprise
