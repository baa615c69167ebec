#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace reprise {

/// The one-line message of an archive that cannot be used: what, why, and what to do.
std::string archive_error_text(const std::filesystem::path& path, std::error_code error);

}  // namespace reprise
