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
  /// Whether bytes, at least kStartBytes unless the source ends, are the start of a record.
  using IsRecord = bool (*)(std::string_view start);
  static constexpr std::size_t kStartBytes = 32;

  /// `digests`, which may be null, see all bytes.
  RecordBlock(ByteReader& from, std::uint64_t size_bytes, RecordDigests* digests = nullptr)
      : from_(from), left_(size_bytes), digests_(digests) {}

  /// The block ends before the next part of the source (ByteReader::next_part()) that begins with a
  /// record. An empty line at the end of the part before is then not read.
  void stop_at_record(IsRecord is_record) { is_record_ = is_record; }

  bool starts_with(std::string_view start) {
    return left_ >= start.size() && from_.fill(start.size()).starts_with(start);
  }
  /// Passes all of it to `take`. False if the file ends before the block, or a record begins.
  template <class Take>
  bool read(Take take) {
    while (left_ > 0) {
      auto const piece = is_record_ == nullptr ? from_.some().substr(0, left_) : up_to_record();
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
  /// The next bytes, without the empty line that can follow the block, until it is known.
  std::string_view up_to_record() {
    constexpr std::string_view kEmptyLine = "\r\n\r\n";
    auto const bytes = from_.fill(kEmptyLine.size() + kStartBytes);
    auto const part = from_.next_part();
    auto const before = part ? *part - from_.offset() : bytes.size();
    bool const ended = !part && bytes.size() <= kEmptyLine.size();
    if (left_ <= before || ended) return bytes.substr(0, left_);
    if (before > kEmptyLine.size()) return bytes.substr(0, before - kEmptyLine.size());
    if (!is_record_(bytes.substr(before))) return bytes.substr(0, before + 1);
    return bytes.substr(0, before) == kEmptyLine ? std::string_view() : bytes.substr(0, before);
  }

  ByteReader& from_;
  std::uint64_t left_;
  RecordDigests* digests_;
  IsRecord is_record_ = nullptr;
};

}  // namespace reprise::importing
