#pragma once

// The two handles that an archive needs of the system: a descriptor and a map.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "archive/result.h"

namespace reprise {

/// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

enum class FileLock : std::uint8_t { kNone, kShared, kExclusive };

/// Opens a regular file that exists, close-on-exec, and locks it without waiting (flock(2)); an
/// exclusive lock opens for writing too. Errors: locked; is_a_directory; not_an_archive for a
/// device, socket or pipe; the system error of open(2).
Result<FileDescriptor> open_regular_file(const std::filesystem::path& path, FileLock lock);

/// Makes a new file, mode 0600, and locks it exclusively. Errors: already_exists; open(2)'s.
Result<FileDescriptor> create_private_file(const std::filesystem::path& path);

/// fsync(2) on a file by its name.
Result<void> sync_file(const std::filesystem::path& path);

Result<std::uint64_t> file_size(const FileDescriptor& file);

/// A whole file, mapped for reading.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept;

  static Result<MappedFile> map(const FileDescriptor& file, std::uint64_t size_bytes);

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Reads it all into memory if it takes less than half of what is free. Best effort.
  void populate() const;

 private:
  std::span<const std::byte> bytes_;
};

/// errno as an error code.
std::error_code last_system_error();

}  // namespace reprise
