#include "proxy/replay/response/prepared_cache.h"

#include <malloc.h>

namespace reprise {
namespace {

/// Freed memory is returned to the system in steps of this size.
constexpr std::size_t kTrimBytes = PreparedCache::kBytesMax / 4;

}  // namespace

PreparedCache::PreparedCache(std::size_t size, Prepare prepare)
    : prepare_(std::move(prepare)), slots_(size) {}

PreparedCache::Entry PreparedCache::get(std::uint32_t ordinal) {
  auto& slot = slots_[ordinal];
  if (auto entry = slot.entry.load()) {
    // Read first: writing each time would bounce the cache line between threads.
    if (!slot.used.load(std::memory_order_relaxed)) {
      slot.used.store(true, std::memory_order_relaxed);
    }
    return entry;
  }
  auto made = prepare_(ordinal);
  std::vector<Entry> gone;
  {
    std::scoped_lock const lock(mutex_);
    // Two threads may prepare the same exchange; one of them is kept.
    if (auto entry = slot.entry.load()) return entry;
    slot.entry.exchange(made);
    turns_.push_back(ordinal);
    count(slot, made->memory_bytes());
    gone = shrink(ordinal);
  }
  destroy(std::move(gone));
  return made;
}

void PreparedCache::settle(std::uint32_t ordinal, const PreparedExchange& entry) {
  auto& slot = slots_[ordinal];
  if (entry.memory_bytes() == slot.bytes.load(std::memory_order_relaxed)) return;
  std::vector<Entry> gone;
  {
    std::scoped_lock const lock(mutex_);
    if (slot.entry.load().get() != &entry) return;  // it was dropped meanwhile
    count(slot, entry.memory_bytes());
    gone = shrink(ordinal);
  }
  destroy(std::move(gone));
}

void PreparedCache::count(Slot& slot, std::size_t bytes) {
  bytes_.fetch_add(bytes - slot.bytes.exchange(bytes, std::memory_order_relaxed),
                   std::memory_order_relaxed);
}

std::vector<PreparedCache::Entry> PreparedCache::shrink(std::uint32_t latest) {
  std::vector<Entry> gone;
  while (bytes() > kBytesMax && turns_.size() > 1) {
    auto const ordinal = turns_.front();
    turns_.pop_front();
    auto& slot = slots_[ordinal];
    if (ordinal == latest || slot.used.exchange(false, std::memory_order_relaxed)) {
      turns_.push_back(ordinal);
      continue;
    }
    gone.push_back(slot.entry.exchange(nullptr));
    freed_ += slot.bytes.load(std::memory_order_relaxed);
    count(slot, 0);
  }
  return gone;
}

void PreparedCache::destroy(std::vector<Entry> entries) {
  entries.clear();
  if (freed_.load(std::memory_order_relaxed) < kTrimBytes) return;
  // Memory that another thread allocated is of no use for this thread's allocations.
  if (freed_.exchange(0) >= kTrimBytes) ::malloc_trim(0);
}

}  // namespace reprise
