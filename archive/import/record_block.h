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

  /// The block ends no later than the next part of the source begins (ByteReader::next_part()).
  void stop_at_part() { stops_at_part_ = true; }

  bool starts_with(std::string_view start) {
    return left_ >= start.size() && from_.fill(start.size()).starts_with(start);
  }
  /// Passes all of it to `take`. False if the file, or the part, ends before the block.
  template <class Take>
  bool read(Take take) {
    while (left_ > 0) {
      auto piece = from_.some().substr(0, left_);
      if (stops_at_part_) piece = up_to_part(piece);
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
  std::string_view up_to_part(std::string_view bytes) const {
    auto const part = from_.next_part();
    return part ? bytes.substr(0, *part - from_.offset()) : bytes;
  }

  ByteReader& from_;
  std::uint64_t left_;
  RecordDigests* digests_;
  bool stops_at_part_ = false;
};

}  // namespace reprise::importing
