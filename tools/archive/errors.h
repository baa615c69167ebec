#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace reprise {

/// The one-line message for an unusable archive: what, why, and the remedy.
std::string archive_error_text(const std::filesystem::path& path, std::error_code error);

/// The same for an archive without session `asked`, or without any (0).
std::string no_session_text(const std::filesystem::path& path, std::uint32_t asked);

}  // namespace reprise
