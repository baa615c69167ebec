#include "proxy/replay/prepared_cache.h"

#include <malloc.h>

namespace reprise {
namespace {

/// The system gets memory back after so much was let go of.
constexpr std::size_t kTrimBytes = PreparedCache::kBytesMax / 4;

}  // namespace

PreparedCache::PreparedCache(std::size_t size, Prepare prepare)
    : prepare_(std::move(prepare)), slots_(size) {}

PreparedCache::Entry PreparedCache::get(std::uint32_t ordinal) {
  auto& slot = slots_[ordinal];
  if (auto entry = slot.entry.load(std::memory_order_acquire)) {
    // Looked at first: writing each time would bounce the line between the threads.
    if (!slot.used.load(std::memory_order_relaxed)) {
      slot.used.store(true, std::memory_order_relaxed);
    }
    return entry;
  }
  auto made = prepare_(ordinal);
  std::scoped_lock const lock(mutex_);
  // Two threads may prepare the same exchange; one of them is kept.
  if (auto entry = slot.entry.load(std::memory_order_relaxed)) return entry;
  slot.entry.store(made, std::memory_order_release);
  turns_.push_back(ordinal);
  count(slot, made->memory_bytes());
  shrink(ordinal);
  return made;
}

void PreparedCache::settle(std::uint32_t ordinal, const PreparedExchange& entry) {
  auto& slot = slots_[ordinal];
  if (entry.memory_bytes() == slot.bytes.load(std::memory_order_relaxed)) return;
  std::scoped_lock const lock(mutex_);
  if (slot.entry.load(std::memory_order_relaxed).get() != &entry) return;  // it went meanwhile
  count(slot, entry.memory_bytes());
  shrink(ordinal);
}

void PreparedCache::count(Slot& slot, std::size_t bytes) {
  bytes_.fetch_add(bytes - slot.bytes.exchange(bytes, std::memory_order_relaxed),
                   std::memory_order_relaxed);
}

void PreparedCache::shrink(std::uint32_t latest) {
  while (bytes() > kBytesMax && turns_.size() > 1) {
    auto const ordinal = turns_.front();
    turns_.pop_front();
    auto& slot = slots_[ordinal];
    if (ordinal == latest || slot.used.exchange(false, std::memory_order_relaxed)) {
      turns_.push_back(ordinal);
      continue;
    }
    slot.entry.store(nullptr, std::memory_order_release);
    freed_ += slot.bytes.load(std::memory_order_relaxed);
    count(slot, 0);
  }
  if (freed_ < kTrimBytes) return;
  // What one thread prepared and another let go of is of no use to the other's allocations.
  freed_ = 0;
  ::malloc_trim(0);
}

}  // namespace reprise
