#include "proxy/quic/recycled_memory.h"

#include <malloc.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace reprise {
namespace {

#if __has_feature(address_sanitizer)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

/// glibc's objects have room for 24 bytes and steps of 16 more.
constexpr std::size_t kSmallestBytes = 24;
constexpr std::size_t kStepBytes = 16;
constexpr std::size_t kSizes = RecycledMemory::kObjectBytesMax / kStepBytes;

/// Of the objects that have room for so much.
std::size_t size_class(std::size_t size_bytes) {
  if (size_bytes <= kSmallestBytes) return 0;
  return (size_bytes - kSmallestBytes + kStepBytes - 1) / kStepBytes;
}

std::size_t room_bytes(std::size_t place) {
  return kSmallestBytes + place * kStepBytes;
}

struct Kept {
  Kept* next;
};

/// What a thread has kept, by size. Without a constructor or destructor: destructors of other
/// objects of the thread use it, too.
struct Lists {
  std::array<Kept*, kSizes> first;
  std::size_t kept_bytes;
  bool ended;
};
constinit thread_local Lists lists{};

/// Frees it at the thread's end.
struct End {
  End() = default;
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() {
    lists.ended = true;
    for (Kept*& first : lists.first) {
      while (first != nullptr) std::free(std::exchange(first, first->next));
    }
  }
};

}  // namespace

void* RecycledMemory::take(std::size_t size_bytes, void*) {
  auto const place = size_class(size_bytes);
  if (place >= kSizes || lists.first[place] == nullptr) return std::malloc(size_bytes);
  auto* const found = std::exchange(lists.first[place], lists.first[place]->next);
  __builtin_prefetch(lists.first[place], 1);  // the next one has been out of use as long
  lists.kept_bytes -= room_bytes(place);
  return found;
}

void* RecycledMemory::take_cleared(std::size_t count, std::size_t size_bytes, void*) {
  std::size_t all_bytes = 0;
  if (__builtin_mul_overflow(count, size_bytes, &all_bytes)) return nullptr;
  if (size_class(all_bytes) >= kSizes) return std::calloc(count, size_bytes);
  auto* const made = take(all_bytes);
  return made == nullptr ? nullptr : std::memset(made, 0, all_bytes);
}

void* RecycledMemory::resize(void* object, std::size_t size_bytes, void*) {
  return object == nullptr ? take(size_bytes) : std::realloc(object, size_bytes);
}

void RecycledMemory::give(void* object, void*) {
  if (object == nullptr) return;
  // Another malloc than glibc's can have other sizes: then an object may have room to spare.
  auto const room = ::malloc_usable_size(object);
  auto const place = room < kSmallestBytes ? kSizes : (room - kSmallestBytes) / kStepBytes;
  bool const keeps = kKeeps && place < kSizes && !lists.ended &&
                     lists.kept_bytes + room_bytes(place) <= kKeptBytesMax;
  if (!keeps) {
    std::free(object);
    return;
  }
  thread_local End const end;
  lists.kept_bytes += room_bytes(place);
  lists.first[place] = ::new (object) Kept{lists.first[place]};
}

}  // namespace reprise
