#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace reprise {

/// The one-line message for an unusable archive: what, why, and the remedy.
std::string archive_error_text(const std::filesystem::path& path, std::error_code error);

}  // namespace reprise
