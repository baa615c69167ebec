#include "archive/replace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "archive/open_file.h"
#include "base/system/last_error.h"
#include "base/system/mapped_file.h"

namespace reprise {
namespace {

Result<void> system_result(int returned) {
  return returned == 0 ? Result<void>() : Result<void>(fail(last_system_error()));
}

/// Follows a symbolic link: renaming over it would replace the link, not the file.
Result<std::filesystem::path> without_link(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;  // if that fails, opening it will
  auto resolved = std::filesystem::canonical(path, error);
  if (error) return fail(error);
  return resolved;
}

/// Gives the new file owner, group and mode of the one that it replaces, as far as this user may.
/// By a descriptor: in a folder of somebody else the name may lead to another file by now.
Result<void> take_over_mode(const Descriptor& original, const std::filesystem::path& path) {
  Descriptor const file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat old{}, now{};
  if (!file.is_open() || ::fstat(original.get(), &old) != 0 || ::fstat(file.get(), &now) != 0) {
    return fail(last_system_error());
  }
  if (!S_ISREG(now.st_mode) || now.st_nlink != 1) {
    return fail(std::make_error_code(std::errc::operation_not_permitted));
  }
  auto mode = old.st_mode & 0777U;
  bool const is_others = old.st_uid != now.st_uid || old.st_gid != now.st_gid;
  if (is_others && ::fchown(file.get(), old.st_uid, old.st_gid) != 0) {
    constexpr auto kSameOwner = static_cast<uid_t>(-1);
    bool const has_group =
        old.st_gid == now.st_gid || ::fchown(file.get(), kSameOwner, old.st_gid) == 0;
    if (!has_group) mode &= 0707U;  // another group must not get what the original's could
  }
  if (mode == (now.st_mode & 0777U)) return {};  // not all file systems keep modes
  return system_result(::fchmod(file.get(), mode));
}

/// A hard link; a copy where the file system has no such links, or this user may not make one.
Result<void> keep_as(const std::filesystem::path& path, const std::filesystem::path& backup) {
  if (::link(path.c_str(), backup.c_str()) == 0) return {};
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return fail(last_system_error());
  std::error_code error;
  std::filesystem::copy_file(path, backup, error);
  if (error == std::errc::file_exists) return fail(error);
  auto copied = error ? Result<void>(fail(error)) : sync_file(backup);
  if (!copied) ::unlink(backup.c_str());
  return copied;
}

}  // namespace

Result<Replacement> Replacement::begin(const std::filesystem::path& path, const char* suffix,
                                       Damaged damaged) {
  Replacement made;
  auto file = without_link(path);
  if (!file) return fail(file.error());
  auto lock = open_regular_file(*file, FileLock::kExclusive);
  if (!lock) return fail(lock.error());
  auto original = ArchiveReader::open(*file, {.lock = false, .populate = false});
  if (!original) return fail(original.error());
  if (damaged == Damaged::kRefused && (*original)->report().is_damaged()) {
    return fail(archive_errc::corrupt);
  }
  if ((*original)->report().facts_ignored) return fail(archive_errc::too_large);
  auto new_path = *file;
  new_path += suffix;
  ::unlink(new_path.c_str());  // left by a killed process: this one holds the lock
  auto target = ArchiveWriter::create(new_path, {.fsync = false});
  if (!target) return fail(target.error());
  made.path_ = std::move(*file);
  made.new_path_ = std::move(new_path);
  made.lock_ = std::move(*lock);
  made.original_ = std::move(*original);
  made.target_ = std::move(*target);
  return made;
}

Replacement::Replacement(Replacement&& other) noexcept
    : path_(std::move(other.path_)),
      new_path_(std::exchange(other.new_path_, {})),
      lock_(std::move(other.lock_)),
      original_(std::move(other.original_)),
      target_(std::move(other.target_)) {}

Replacement::~Replacement() {
  if (!new_path_.empty()) ::unlink(new_path_.c_str());
}

Result<void> Replacement::commit(const std::filesystem::path& backup) {
  auto done = target_->close();
  if (done) done = take_over_mode(lock_, new_path_);
  if (done) done = sync_file(new_path_);
  if (done && !backup.empty()) done = keep_as(path_, backup);
  if (done) done = system_result(::rename(new_path_.c_str(), path_.c_str()));
  if (done) new_path_.clear();
  return done;
}

}  // namespace reprise
