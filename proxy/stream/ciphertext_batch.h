#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "base/bytes.h"

namespace reprise {

/// The ciphertext made for one write. It is sent, or kept by its stream, before anything else runs
/// on the thread, so all streams of a thread share it, and it stays in the caches.
class CiphertextBatch {
 public:
  std::size_t size() const { return size_; }
  /// Valid until the next change.
  Bytes bytes() const { return Bytes(memory_).first(size_); }
  void clear() { size_ = 0; }
  /// Where the next `bytes_max` can be written; grow() then counts those that were.
  std::byte* room(std::size_t bytes_max) {
    if (memory_.size() < size_ + bytes_max) memory_.resize(size_ + bytes_max);
    return memory_.data() + size_;
  }
  void grow(std::size_t bytes) { size_ += bytes; }
  void append(Bytes bytes) {
    if (bytes.empty()) return;
    std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
    grow(bytes.size());
  }

 private:
  std::vector<std::byte> memory_;
  std::size_t size_ = 0;
};

/// The thread's.
inline CiphertextBatch& batch() {
  thread_local CiphertextBatch made;
  return made;
}

}  // namespace reprise
