#include "archive/replace.h"

#include <unistd.h>

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
  if (done) done = sync_file(new_path_);
  if (done && !backup.empty()) done = system_result(::link(path_.c_str(), backup.c_str()));
  if (done) done = system_result(::rename(new_path_.c_str(), path_.c_str()));
  if (done) new_path_.clear();
  return done;
}

}  // namespace reprise
