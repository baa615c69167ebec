#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "archive/export/output.h"
#include "archive/reader.h"

namespace reprise::wpr {

/// The file that symbolic links at `path` lead to, which need not exist yet.
std::filesystem::path behind_links(std::filesystem::path path);

/// Replaces `to`, or the file that it links to, by the one that `write` makes at the path it is
/// given, once that is whole. Returns the problem as a sentence, or nothing; `to` is unchanged
/// then.
std::string replace_once_whole(
    const std::filesystem::path& to,
    const std::function<std::string(const std::filesystem::path& part)>& write);

/// Writes the session of `archive` that a replay would serve as a .wprgo, which replaces `to` once
/// it is whole. Returns the problem as a sentence, or nothing.
std::string write_wprgo(const std::filesystem::path& archive, const std::filesystem::path& to,
                        exporting::Effort effort);

/// The time that the scripts of a recording started from, where a replay must start, too: by
/// default when the session began.
std::chrono::milliseconds time_seed_of(const ArchiveReader& archive, std::uint32_t session);

}  // namespace reprise::wpr
