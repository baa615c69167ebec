#pragma once

#include <string>

namespace reprise {

/// Prints "reprise: TEXT" to standard error, a line for people; returns `exit_code`.
int say(int exit_code, const std::string& text);

}  // namespace reprise
