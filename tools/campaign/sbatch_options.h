#pragma once

// Where the options that users give for sbatch let jobs run. Pure.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace reprise {

/// The value of an option, given as `--NAME=VALUE`, `--NAME VALUE`, `-LETTER VALUE` or
/// `-LETTERVALUE`. Of several the last one counts, as it does for sbatch. Nothing if none is given.
std::optional<std::string> sbatch_value(std::span<const std::string> options, std::string_view name,
                                        char letter);

/// The names in a list with commas or white space between them.
std::set<std::string> names_in_list(std::string_view list);

/// The list of nodes that the text of a file has: one or more on each line, and comments after '#'.
std::string list_in_node_file(const std::string& text);

}  // namespace reprise
