#pragma once

#include <string>
#include <string_view>

namespace reprise {

/// Text of which Markdown takes nothing as its own.
std::string markdown_escaped(std::string_view text);
/// As code; `text` may contain backticks.
std::string markdown_code(std::string_view text);

/// What others wrote, for a terminal or in Markdown: one line without control characters.
std::string safe_text(std::string_view text, bool markdown);

}  // namespace reprise
