#pragma once

#include <filesystem>
#include <string_view>

#include "archive/result.h"

namespace reprise {

/// Writes `text` to `path` in one step, mode 0600: who waits for the file never reads half of it,
/// and others on the machine read none of it. To standard output when `path` is "-". Errors: the
/// system error of open(2), write(2) or rename(2); an older file is then as it was.
Result<void> write_private_file(std::string_view text, const std::filesystem::path& path);

}  // namespace reprise
