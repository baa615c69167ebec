#pragma once

// What this process holds on its heap, that of its libraries included.

#include <malloc.h>

#include <cstddef>

#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#endif

namespace reprise {

inline std::size_t allocated_bytes() {
#if __has_feature(address_sanitizer)
  return __sanitizer_get_current_allocated_bytes();
#else
  auto const now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
#endif
}

}  // namespace reprise
