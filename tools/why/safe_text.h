#pragma once

#include <string>

namespace reprise {

/// What others wrote, for a terminal, or in Markdown, which must not take it as its own.
std::string safe_text(const std::string& text, bool markdown);

}  // namespace reprise
