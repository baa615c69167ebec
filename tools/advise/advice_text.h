#pragma once

// Advice in words, for a terminal or as Markdown.

#include <string>

#include "tools/advise/advise_run.h"

namespace reprise {

/// "saves", "breaks the page", "costs", "no effect", "undecided" or "not compared".
const char* verdict_of(const MeasuredChange& change);

/// What to do, or "All 3 together".
std::string title_of(const MeasuredChange& change);

/// What helps, numbered, the best first; what was tried; what was not measured, and why.
std::string advice_text(const AdviseRun& run, bool markdown);

}  // namespace reprise
