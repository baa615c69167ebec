#pragma once

#include <filesystem>

namespace reprise {

/// `reprise campaign plan FILE -o DIR`. Prints what the campaign will take; returns the exit code.
int plan_from_file(const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace reprise
