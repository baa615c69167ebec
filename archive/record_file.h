#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "archive/record.h"
#include "base/result.h"
#include "base/system/descriptor.h"
#include "base/system/mapped_file.h"

namespace reprise {

/// A payload that is still in several pieces, at most four.
struct RecordParts {
  RecordKind kind{};
  std::array<Bytes, 4> pieces;
};

/// Appends whole records to a file: all of a call's or none. Not thread-safe.
class RecordFile {
 public:
  /// `size_bytes` is the end of the last whole record; what lies behind is cut off with the first
  /// append.
  RecordFile(Descriptor file, std::uint64_t size_bytes)
      : file_(std::move(file)), size_bytes_(size_bytes) {}

  /// Writes what starts the file.
  Result<void> append_file_header();

  /// One gathered write of all `records`, at most two. When it returns an error (a full disk) the
  /// file has been cut back to where it was, and a later call may succeed.
  /// Returns the offset of the first. Errors: too_large; those of write(2).
  Result<std::uint64_t> append(std::span<const RecordParts> records);
  Result<std::uint64_t> append(const RecordParts& record) { return append(std::span(&record, 1)); }

  /// What the header of the first record says about its payload. There must be one.
  Result<std::uint32_t> first_payload_crc() const;

  /// All records so far, for reading. Errors: those of mmap(2).
  Result<MappedFile> map() const { return MappedFile::map(file_, size_bytes_); }

  /// Cuts off what stands behind `size_bytes`, which is the end of a record.
  Result<void> truncate(std::uint64_t size_bytes);
  /// Cuts off what stands behind the last whole record.
  Result<void> truncate_tail();
  /// Whether no folder names the file any more, so that it goes with its descriptor.
  Result<bool> is_removed() const;
  /// fdatasync(2).
  Result<void> sync();
  /// Closes the descriptor, which gives up the lock. Errors after that: bad_file_descriptor.
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
