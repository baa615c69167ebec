#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "archive/import/source/decompress.h"

namespace reprise::importing {

/// Buffers compressed bytes, and counts input and output.
class Decompressor : public ByteSource {
 public:
  static constexpr std::size_t kHeldBytes = 64 << 10;
  /// How often damage is skipped.
  static constexpr unsigned kSeeksMax = 10'000;

  explicit Decompressor(std::unique_ptr<ByteSource> from, std::size_t held_bytes = kHeldBytes)
      : from_(std::move(from)), in_(held_bytes, '\0') {}

 protected:
  /// Reads until `in_` has at least one byte; does nothing if the source ended or failed.
  bool refill() {
    if (begin_ < end_) return true;
    auto const got = from_->read(in_);
    if (got == 0 && from_->fault()) fault_ = from_->fault();
    if (got == 0) return false;
    begin_ = 0;
    end_ = got;
    return true;
  }
  /// Fills the buffer, or reads the rest. Returns whether bytes were added.
  bool fill_up() {
    auto const before = end_ - begin_;
    std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    while (end_ < in_.size()) {
      auto const got = from_->read(std::span(in_).subspan(end_));
      if (got == 0) break;
      end_ += got;
    }
    return end_ > before;
  }
  /// Moves to the next `mark`, which may be here. False if no mark follows, after kSeeksMax calls,
  /// or when the output has become too large.
  bool seek(std::string_view mark) {
    if (++seeks_ > kSeeksMax) return false;
    while (!expands_too_much()) {
      auto const at = held().find(mark);
      if (at != std::string_view::npos) {
        take(at);
        return true;
      }
      take(held().size() - std::min(held().size(), mark.size() - 1));
      if (!fill_up()) return false;
    }
    return false;
  }
  /// Returns the last `count` bytes, which must still be in the buffer.
  void put_back(std::size_t count) {
    begin_ -= count;
    taken_ -= count;
  }
  std::string_view held() const { return {in_.data() + begin_, end_ - begin_}; }
  void take(std::size_t count) {
    begin_ += count;
    taken_ += count;
  }
  /// Counts `count` output bytes; returns 0 if they are too many.
  std::size_t give(std::size_t count) {
    given_ += count;
    if (!expands_too_much()) return count;
    bad("it expands more than " + std::to_string(kExpansionMax) + "-fold");
    return 0;
  }
  void bad(const std::string& what) {
    if (!fault_)
      fault_ = Fault{.what = "at byte " + std::to_string(taken_) + " of the file: " + what,
                     .system = {}};
  }

 private:
  bool expands_too_much() const { return given_ > kExpansionFreeBytes + kExpansionMax * taken_; }

  std::unique_ptr<ByteSource> from_;
  std::string in_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t given_ = 0;
  unsigned seeks_ = 0;
};

}  // namespace reprise::importing
