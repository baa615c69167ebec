#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "base/result.h"
#include "base/system/descriptor.h"

namespace reprise {

/// A whole file, mapped for reading.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept;

  static Result<MappedFile> map(const Descriptor& file, std::uint64_t size_bytes);

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Reads the whole file into memory if it is smaller than half of the free memory. Best effort.
  void populate() const;

 private:
  std::span<const std::byte> bytes_;
};

/// Errors: fstat(2)'s.
Result<std::uint64_t> file_size(const Descriptor& file);

/// fsync(2) on a file by its name. Errors: open(2)'s, fsync(2)'s.
Result<void> sync_file(const std::filesystem::path& path);

}  // namespace reprise
