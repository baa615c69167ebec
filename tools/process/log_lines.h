#pragma once

#include <string>

namespace reprise {

/// What is logged from here on goes to stderr, a line each: "reprise: TEXT". `level` is the least
/// that is shown, as spdlog names it. URLs and names in the text come from pages and origins, and
/// cannot steer the terminal.
void log_to_stderr(const std::string& level);

}  // namespace reprise
