#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace reprise {

/// Writes `text` to `path`, mode 0600 (results and reports hold URLs with tokens). A regular file
/// is replaced in one step, so that nobody reads half of it; a device, a FIFO or what a symbolic
/// link leads to is written in place. To standard output when `path` is "-". Errors: the system
/// error of open(2), write(2) or rename(2); an older regular file is then as it was.
Result<void> write_private_file(std::string_view text, const std::filesystem::path& path);

/// Makes a regular file appear under its name whole, or not at all, and survive the machine
/// (fsync(2)). `mode` holds from its first byte on and whatever the umask is. Errors: the system
/// error of open(2), write(2), fsync(2) or rename(2); an older file is then as it was.
Result<void> replace_file(std::string_view text, const std::filesystem::path& path, mode_t mode);

/// Whether write_private_file() could write there now. For paths that are written at the end of
/// long work. Errors: the system error of stat(2) or access(2).
Result<void> check_writable(const std::filesystem::path& path);

}  // namespace reprise
