#pragma once

#include <expected>
#include <filesystem>
#include <string>

namespace reprise {

/// Lets the user edit a text ($VISUAL, $EDITOR or vi), in a private file called `name`, and returns
/// the result. The error is a sentence.
std::expected<std::string, std::string> edit_by_hand(const std::string& text,
                                                     const std::string& name);

/// Reads a whole file of at most `bytes_max`. The error is a sentence.
std::expected<std::string, std::string> read_whole_file(const std::filesystem::path& path,
                                                        std::uint64_t bytes_max);

}  // namespace reprise
