#pragma once

#include <string>
#include <vector>

namespace reprise {

/// The flags as words of a shell's command line. Of a flag NAME=VALUE only the value is quoted, as
/// a whole: so the text is also read by tools that split it themselves and look for words that
/// begin with -- (yargs-parser, as in Lighthouse's --chrome-flags).
std::string to_shell_words(const std::vector<std::string>& flags);

/// Replaces an argument `{chromium-flags}` by `flags`, and inside longer arguments by their
/// to_shell_words().
std::vector<std::string> expand_chromium_flags(const std::vector<std::string>& arguments,
                                               const std::vector<std::string>& flags);

}  // namespace reprise
