#pragma once

// The sides of experiments with what-ifs: the same arguments of load, with and without a change.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/experiment/experiment_side.h"

namespace CLI {
class App;
}

namespace reprise {

/// The arguments of `reprise load` that a subcommand leaves; `flags`: the words after `--`.
std::vector<std::string> load_words(const CLI::App& subcommand,
                                    const std::vector<std::string>& flags);

/// The archive that arguments of `reprise load` name. Empty if they name no archive or are invalid.
std::filesystem::path archive_of(const std::vector<std::string>& words);

/// Whether none of these files in `folder`, that of -o, replaces the archive that arguments of
/// `reprise load` name. Prints why not. True if `folder` is empty.
bool is_archive_kept(const std::vector<std::string>& words, const std::filesystem::path& folder,
                     const std::vector<std::string>& names);

/// `words`: arguments of `reprise load`.
std::expected<ExperimentSide, CommandRefusal> try_side_with(
    std::vector<std::string> words, const std::vector<std::string>& what_ifs, std::uint64_t seed);
/// The same. The error is an exit code, whose message was printed. `command`: the name of the
/// subcommand in it.
std::expected<ExperimentSide, int> side_with(std::vector<std::string> words,
                                             const std::vector<std::string>& what_ifs,
                                             std::uint64_t seed, const char* command);

}  // namespace reprise
