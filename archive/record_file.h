#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "archive/record.h"
#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/system/mapped_file.h"

namespace reprise {

/// A payload in several pieces, at most four.
struct RecordParts {
  RecordKind kind{};
  std::array<Bytes, 4> pieces;
};

/// Appends complete records to a file: all of a call's or none. Not thread-safe.
class RecordFile {
 public:
  /// `size_bytes` is the end of the last complete record; bytes after it are cut off with the first
  /// append.
  RecordFile(Descriptor file, std::uint64_t size_bytes)
      : file_(std::move(file)), size_bytes_(size_bytes) {}

  /// Writes the file header.
  Result<void> append_file_header();

  /// Writes all `records`, at most two, in one gathered write. On an error (a full disk) the file
  /// has been cut back to its previous size, and a later call may succeed. Returns the offset of
  /// the first. Errors: too_large; those of write(2).
  Result<std::uint64_t> append(std::span<const RecordParts> records);
  Result<std::uint64_t> append(const RecordParts& record) { return append(std::span(&record, 1)); }

  /// The checksum of the payload in the first record's header. There must be a record.
  Result<std::uint32_t> first_payload_crc() const;

  /// All records so far, for reading. Errors: those of mmap(2).
  Result<MappedFile> map() const { return MappedFile::map(file_, size_bytes_); }

  /// Cuts off the bytes after `size_bytes`, which is the end of a record.
  Result<void> truncate(std::uint64_t size_bytes);
  /// Cuts off the bytes after the last complete record.
  Result<void> truncate_tail();
  /// Whether no folder names the file any longer, so that it vanishes with its descriptor.
  Result<bool> is_removed() const;
  /// fdatasync(2).
  Result<void> sync();
  /// Closes the descriptor, which releases the lock. Errors after that: bad_file_descriptor.
  void close() { file_ = Descriptor(); }

  std::uint64_t size_bytes() const { return size_bytes_; }

 private:
  struct Gathered;
  Result<void> write_out(Gathered& gathered);

  Descriptor file_;
  std::uint64_t size_bytes_;
  bool tail_is_clean_ = false;
};

}  // namespace reprise
