#pragma once

#include <filesystem>
#include <string>

#include "archive/export/output.h"

namespace reprise::wpr {

/// Writes the session of `archive` that a replay would serve as a .wprgo, which replaces `to` once
/// it is whole. Returns the problem as a sentence, or nothing.
std::string write_wprgo(const std::filesystem::path& archive, const std::filesystem::path& to,
                        exporting::Effort effort);

}  // namespace reprise::wpr
