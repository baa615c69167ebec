#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "archive/import/decompress.h"

namespace reprise::importing {

/// Holds compressed bytes, and counts both sides.
class Decompressor : public ByteSource {
 public:
  static constexpr std::size_t kHeldBytes = 64 << 10;

  explicit Decompressor(std::unique_ptr<ByteSource> from, std::size_t held_bytes = kHeldBytes)
      : from_(std::move(from)), in_(held_bytes, '\0') {}

 protected:
  /// Makes at least one byte lie in `in_`, unless the source ended or failed.
  bool refill() {
    if (begin_ < end_) return true;
    begin_ = 0;
    end_ = from_->read(in_);
    if (end_ == 0 && from_->fault()) fault_ = from_->fault();
    return end_ > 0;
  }
  /// Holds as much as there is room for, or all that is left. Whether that is more than before.
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
  std::string_view held() const { return {in_.data() + begin_, end_ - begin_}; }
  void take(std::size_t count) {
    begin_ += count;
    taken_ += count;
  }
  /// Notes that `count` bytes come out; nothing does when it is too much.
  std::size_t give(std::size_t count) {
    given_ += count;
    if (given_ <= kExpansionFreeBytes + kExpansionMax * taken_) return count;
    bad("it expands more than " + std::to_string(kExpansionMax) + "-fold");
    return 0;
  }
  void bad(const std::string& what) {
    if (!fault_)
      fault_ = Fault{.what = "at byte " + std::to_string(taken_) + " of the file: " + what,
                     .system = {}};
  }

 private:
  std::unique_ptr<ByteSource> from_;
  std::string in_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t given_ = 0;
};

}  // namespace reprise::importing
