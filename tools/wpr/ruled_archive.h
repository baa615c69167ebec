#pragma once

#include <expected>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "archive/reader.h"

namespace reprise::wpr {

/// Reads a rules file (empty: none) and the values of --inject_script_by_url, and returns what
/// writes a copy of the archive `from` to the new file `to` in which responses are as the rules
/// make them; that prints its errors, and what the rules changed, and returns an exit code. The
/// error is a sentence.
std::expected<
    std::function<int(const std::filesystem::path& from, const std::filesystem::path& to)>,
    std::string>
ruled_copy(const std::filesystem::path& rules_file, std::span<const std::string> scripts_by_url);

/// Writes a copy of `from` to the new file `to` with the script of a file in the selected
/// documents that do not contain it, its time filled in from the recording. Returns the problem as
/// a sentence, or nothing.
std::string inject_script(const ArchiveReader& from, const std::filesystem::path& to,
                          const std::filesystem::path& script,
                          std::function<bool(const Exchange&)> selects);

}  // namespace reprise::wpr
