#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace reprise {

/// A first-in first-out queue of bytes.
class ByteQueue {
 public:
  std::size_t size() const { return bytes_.size() - begin_; }

  void append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  /// The first `size` bytes, at most size(); valid until the next call that is not const.
  std::span<const std::byte> first(std::size_t size) const {
    return std::span(bytes_).subspan(begin_, size);
  }

  void pop(std::size_t size) {
    begin_ += size;
    // Moving the rest costs less than the popped bytes did.
    if (begin_ < bytes_.size() - begin_) return;
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;  // start of the bytes not yet popped
};

}  // namespace reprise
