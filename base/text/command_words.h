#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// The arguments of a command line in one text, as a shell would make them of it: by white space,
/// but for what stands in '' or "" or behind a backslash. Nothing is expanded. Errors: a sentence
/// when a quotation does not end.
std::expected<std::vector<std::string>, std::string> command_words(std::string_view text);

}  // namespace reprise
