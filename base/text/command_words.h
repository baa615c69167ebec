#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// Splits a command line into arguments as a shell does: at white space, except inside '' or "" or
/// after a backslash. Nothing is expanded. Errors: a sentence if a quotation does not end.
std::expected<std::vector<std::string>, std::string> command_words(std::string_view text);

}  // namespace reprise
