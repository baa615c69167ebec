#pragma once

#include <string>
#include <string_view>

namespace reprise {

/// Whether shells, and other programs that split command lines, read `text` unchanged as one word.
/// False for an empty text.
bool is_plain_word(std::string_view text);

/// In single quotes, for POSIX shells and zsh.
std::string in_single_quotes(std::string_view text);
/// One word of a POSIX shell's command line, quoted if it has to be.
std::string shell_quoted(std::string_view text);

}  // namespace reprise
