#pragma once

// Memory of small objects that come and go with each request: those of ngtcp2 and nghttp3, and of
// the streams. With hundreds of streams at a time they are more than glibc keeps at hand for a
// thread (seven of a size), and its slow path is a tenth of a request's processor time.

#include <cstddef>
#include <new>

namespace reprise {

/// Keeps returned memory of a thread for its next request. Memory may be returned on another
/// thread. The functions are as ngtcp2_mem and nghttp3_mem want them, with user data that is not
/// used; they return null without memory. With AddressSanitizer nothing is kept, so that a use
/// after the end is found.
class RecycledMemory {
 public:
  static constexpr std::size_t kObjectBytesMax = 2048;   ///< larger ones are not kept
  static constexpr std::size_t kKeptBytesMax = 1 << 20;  ///< of a thread

  static void* take(std::size_t size_bytes, void* = nullptr);
  static void* take_cleared(std::size_t count, std::size_t size_bytes, void* = nullptr);
  static void* resize(void* object, std::size_t size_bytes, void* = nullptr);
  static void give(void* object, void* = nullptr);
};

/// The same for containers of the standard library.
template <class T>
struct RecyclingAllocator {
  using value_type = T;

  RecyclingAllocator() = default;
  template <class Other>
  RecyclingAllocator(const RecyclingAllocator<Other>&) {}

  T* allocate(std::size_t count) {
    auto* const made = RecycledMemory::take(count * sizeof(T));
    if (made == nullptr) throw std::bad_alloc();
    return static_cast<T*>(made);
  }
  void deallocate(T* object, std::size_t) { RecycledMemory::give(object); }
  template <class Other>
  bool operator==(const RecyclingAllocator<Other>&) const {
    return true;
  }
};

}  // namespace reprise
