#include "archive/open_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "archive/error.h"
#include "base/system/last_error.h"

namespace reprise {
namespace {

Result<void> lock(const Descriptor& file, FileLock wanted) {
  if (wanted == FileLock::kNone) return {};
  auto const operation = wanted == FileLock::kShared ? LOCK_SH : LOCK_EX;
  while (::flock(file.get(), operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return fail(archive_errc::locked);
    return fail(last_system_error());
  }
  return {};
}

}  // namespace

Result<Descriptor> open_regular_file(const std::filesystem::path& path, FileLock wanted) {
  auto const access = wanted == FileLock::kExclusive ? O_RDWR : O_RDONLY;
  // Non-blocking, or opening a named pipe would wait for a writer.
  Descriptor file(::open(path.c_str(), access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return fail(last_system_error());
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail(last_system_error());
  if (S_ISDIR(status.st_mode)) return fail(std::make_error_code(std::errc::is_a_directory));
  if (!S_ISREG(status.st_mode)) return fail(archive_errc::not_an_archive);
  if (auto locked = lock(file, wanted); !locked) return fail(locked.error());
  return file;
}

Result<Descriptor> create_private_file(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    if (errno == EEXIST) return fail(archive_errc::already_exists);
    return fail(last_system_error());
  }
  if (auto locked = lock(file, FileLock::kExclusive); !locked) return fail(locked.error());
  return file;
}

}  // namespace reprise
