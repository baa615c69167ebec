#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "archive/export/output.h"
#include "archive/reader.h"

namespace reprise::wpr {

/// Writes the session of `archive` that a replay would serve as a .wprgo, which replaces `to` once
/// it is whole. Returns the problem as a sentence, or nothing.
std::string write_wprgo(const std::filesystem::path& archive, const std::filesystem::path& to,
                        exporting::Effort effort);

/// The time that the scripts of a recording started from, where a replay must start, too: by
/// default when the session began.
std::chrono::milliseconds time_seed_of(const ArchiveReader& archive, std::uint32_t session);

}  // namespace reprise::wpr
