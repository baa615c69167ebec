#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "archive/import/collect/record_digests.h"
#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// The content of one WARC or ARC record: a number of bytes from the reader.
class RecordBlock {
 public:
  /// `digests`, which may be null, see all bytes.
  RecordBlock(ByteReader& from, std::uint64_t size_bytes, RecordDigests* digests = nullptr)
      : from_(from), left_(size_bytes), digests_(digests) {}

  bool starts_with(std::string_view start) {
    return left_ >= start.size() && from_.fill(start.size()).starts_with(start);
  }
  /// Passes all of it to `take`. False if the file ends before the block.
  template <class Take>
  bool read(Take take) {
    while (left_ > 0) {
      auto const piece = from_.some().substr(0, left_);
      if (piece.empty()) return false;
      if (digests_ != nullptr) digests_->append(piece);
      take(piece);
      from_.consume(piece.size());
      left_ -= piece.size();
    }
    return true;
  }
  bool skip() {
    return read([](std::string_view) {});
  }
  std::uint64_t left() const { return left_; }

 private:
  ByteReader& from_;
  std::uint64_t left_;
  RecordDigests* digests_;
};

}  // namespace reprise::importing
