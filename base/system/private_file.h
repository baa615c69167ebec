#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace reprise {

/// Writes `text` to `path`, mode 0600 (results and reports hold URLs with tokens). A regular file
/// is replaced atomically, so that nobody reads an incomplete one; a device, a FIFO or the target
/// of a symbolic link is written in place. The path "-" is standard output. Errors: the system
/// error of open(2), write(2) or rename(2); an older regular file is then unchanged.
Result<void> write_private_file(std::string_view text, const std::filesystem::path& path);

/// Writes a regular file atomically, complete or not at all, with fsync(2). It has `mode` from its
/// first byte on, whatever the umask is. Errors: the system
/// error of open(2), write(2), fsync(2) or rename(2); an older file is then unchanged.
Result<void> replace_file(std::string_view text, const std::filesystem::path& path, mode_t mode);

/// Checks in advance whether write_private_file() can write to `path`. For files that are written
/// after long work. Errors: the system error of stat(2) or access(2).
Result<void> check_writable(const std::filesystem::path& path);

}  // namespace reprise
