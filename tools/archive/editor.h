#pragma once

#include <expected>
#include <filesystem>
#include <string>

namespace reprise {

/// What a person made of a text in their editor ($VISUAL, $EDITOR or vi). The text stands in a
/// private file called `name` meanwhile. The error says what went wrong.
std::expected<std::string, std::string> edit_by_hand(const std::string& text,
                                                     const std::string& name);

/// A whole file. The error says what is wrong with it; more than `bytes_max` is, too.
std::expected<std::string, std::string> read_whole_file(const std::filesystem::path& path,
                                                        std::uint64_t bytes_max);

}  // namespace reprise
