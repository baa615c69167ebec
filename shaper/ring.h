#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace reprise {

/// A first-in first-out queue in one array that doubles when full and never shrinks: no allocation
/// once it has had its maximum length. Not thread-safe. `T` is a plain value.
template <class T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }

  /// Precondition of all three: not empty.
  const T& front() const { return slots_[first_]; }
  const T& back() const { return slots_[(first_ + count_ - 1) & (slots_.size() - 1)]; }
  void pop_front() {
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
  }

  void push_back(const T& value) {
    if (count_ == slots_.size()) grow();
    slots_[(first_ + count_) & (slots_.size() - 1)] = value;
    ++count_;
  }

 private:
  static constexpr std::size_t kSlotsMin = 64;

  void grow() {
    std::vector<T> larger(slots_.empty() ? kSlotsMin : slots_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) {
      larger[i] = slots_[(first_ + i) & (slots_.size() - 1)];
    }
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  // the size is a power of two
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace reprise
