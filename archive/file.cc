#include "archive/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "archive/error.h"

namespace reprise {
namespace {

Result<void> lock(const FileDescriptor& file, FileLock wanted) {
  if (wanted == FileLock::kNone) return {};
  auto const operation = wanted == FileLock::kShared ? LOCK_SH : LOCK_EX;
  while (::flock(file.get(), operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return fail(archive_errc::locked);
    return fail(last_system_error());
  }
  return {};
}

/// Zero when the kernel does not say.
std::uint64_t available_memory_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (meminfo >> name >> kibibytes && std::getline(meminfo, unit)) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

std::error_code last_system_error() {
  return {errno, std::generic_category()};
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Result<FileDescriptor> open_regular_file(const std::filesystem::path& path, FileLock wanted) {
  auto const access = wanted == FileLock::kExclusive ? O_RDWR : O_RDONLY;
  // Non-blocking, or a named pipe would keep us here until somebody writes to it.
  FileDescriptor file(::open(path.c_str(), access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return fail(last_system_error());
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail(last_system_error());
  if (S_ISDIR(status.st_mode)) return fail(std::make_error_code(std::errc::is_a_directory));
  if (!S_ISREG(status.st_mode)) return fail(archive_errc::not_an_archive);
  if (auto locked = lock(file, wanted); !locked) return fail(locked.error());
  return file;
}

Result<FileDescriptor> create_private_file(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    if (errno == EEXIST) return fail(archive_errc::already_exists);
    return fail(last_system_error());
  }
  if (auto locked = lock(file, FileLock::kExclusive); !locked) return fail(locked.error());
  return file;
}

Result<void> sync_file(const std::filesystem::path& path) {
  auto const file = open_regular_file(path, FileLock::kNone);
  if (!file) return fail(file.error());
  if (::fsync(file->get()) != 0) return fail(last_system_error());
  return {};
}

Result<std::uint64_t> file_size(const FileDescriptor& file) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return fail(last_system_error());
  return static_cast<std::uint64_t>(status.st_size);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<MappedFile> MappedFile::map(const FileDescriptor& file, std::uint64_t size_bytes) {
  MappedFile mapped;
  if (size_bytes == 0) return mapped;
  auto* const address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) return fail(last_system_error());
  mapped.bytes_ = {static_cast<const std::byte*>(address), size_bytes};
  return mapped;
}

void MappedFile::populate() const {
  if (bytes_.empty() || bytes_.size() >= available_memory_bytes() / 2) return;
  ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_POPULATE_READ);
}

}  // namespace reprise
