#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "archive/export/output.h"
#include "archive/reader.h"

namespace reprise::wpr {

/// The file that symbolic links at `path` lead to, which need not exist yet.
std::filesystem::path behind_links(std::filesystem::path path);

/// Why no archive can be written to `to`, as far as that shows before the work: it is a folder, a
/// device or a pipe, or its folder does not permit it. A sentence, or nothing.
std::string why_not_writable(const std::filesystem::path& to);

/// Replaces `to`, or the file that it links to, once `write` has filled the new file `part`, which
/// is beside it, empty, private and under a random name. Returns the problem as a sentence, or
/// nothing; `to` is unchanged then, and `part` removed.
std::string replace_once_whole(
    const std::filesystem::path& to,
    const std::function<std::string(const std::filesystem::path& part)>& write);

/// Writes the session of `archive` that a replay would serve as a .wprgo, which replaces `to` once
/// it is whole. Returns what a .wprgo cannot hold of it and what therefore only `archive` has (cut
/// responses, WebSocket messages), each as a sentence; the error is a sentence.
std::expected<std::vector<std::string>, std::string> write_wprgo(
    const std::filesystem::path& archive, const std::filesystem::path& to,
    exporting::Effort effort);

/// Prints the sentences of write_wprgo(), and where the recording that has it all is now.
void print_kept(std::span<const std::string> lost, const std::filesystem::path& recording);

/// The first free name of a recording that is kept beside `archive`: ARCHIVE.kept.reprise, then
/// with a number.
std::filesystem::path name_to_keep(const std::filesystem::path& archive);

/// The time that the scripts of a recording started from, where a replay must start, too: by
/// default when the session began.
std::chrono::milliseconds time_seed_of(const ArchiveReader& archive, std::uint32_t session);

}  // namespace reprise::wpr
