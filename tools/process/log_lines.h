#pragma once

#include <string>

namespace reprise {

/// Sends the log to stderr from here on, one line per message: "reprise: TEXT". `level` is the
/// lowest level shown, as spdlog names it. URLs and names in the text come from pages and origins,
/// and cannot control the terminal.
void log_to_stderr(const std::string& level);

}  // namespace reprise
