#pragma once

#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "archive/import/source/byte_source.h"
#include "base/system/mapped_file.h"

namespace reprise::importing {

/// A file, mapped, and decompressed while it is read.
class OpenedFile {
 public:
  /// The error completes a sentence that begins with the path.
  static std::expected<OpenedFile, std::string> open(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return map_.bytes(); }
  /// Borrows this object.
  std::unique_ptr<ByteSource> source();
  /// The first bytes, decompressed.
  std::string start();

 private:
  explicit OpenedFile(MappedFile map) : map_(std::move(map)), input_(text()) {}
  std::string_view text() const {
    return {reinterpret_cast<const char*>(map_.bytes().data()), map_.bytes().size()};
  }

  MappedFile map_;
  MemoryInput input_;
};

}  // namespace reprise::importing
