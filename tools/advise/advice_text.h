#pragma once

// Advice in words, for a terminal or as Markdown.

#include <string>

#include "tools/advise/advice.h"

namespace reprise {

/// What is advised, numbered, the best first; what third parties cost; what was tried; what was not
/// measured, and why.
std::string advice_text(const Advice& advice, bool markdown);

/// Why a combination is not kept: `tried` was compared with the page as recorded, `more` with the
/// combination without its last change.
std::string reason_against(const MeasuredChange& tried, const MeasuredChange& more);

}  // namespace reprise
