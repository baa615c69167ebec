#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "base/system/descriptor.h"

namespace reprise {

enum class FileLock : std::uint8_t { kNone, kShared, kExclusive };

/// Opens an existing regular file, close-on-exec, and locks it without waiting (flock(2)); for an
/// exclusive lock it is also opened for writing. Errors: locked; is_a_directory; not_an_archive for
/// a device, socket or pipe; the system error of open(2).
Result<Descriptor> open_regular_file(const std::filesystem::path& path, FileLock lock);

/// Creates a new file, mode 0600, and locks it exclusively. Errors: already_exists; open(2)'s.
Result<Descriptor> create_private_file(const std::filesystem::path& path);

}  // namespace reprise
