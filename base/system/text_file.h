#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace reprise {

/// The contents of a file that the user names. Errors: file_too_large over `bytes_max`; those of
/// stat(2); permission_denied if it cannot be opened.
Result<std::string> read_text_file(const std::filesystem::path& path, std::uintmax_t bytes_max);

/// The content of a file that another reprise process wrote; empty if it cannot be read.
std::string contents_of(const std::filesystem::path& path);

}  // namespace reprise
