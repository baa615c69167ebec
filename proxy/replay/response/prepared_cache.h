#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "proxy/replay/response/prepared.h"

namespace reprise {

/// The exchanges of an archive ready to be served, prepared on first use and kept as long as they
/// use no more than kBytesMax together: beyond it, those unused for longest are dropped, and
/// prepared again when needed. Users keep theirs alive. Thread-safe; existing entries are found
/// without the shared lock.
class PreparedCache {
 public:
  using Entry = std::shared_ptr<const PreparedExchange>;
  using Prepare = std::function<Entry(std::uint32_t ordinal)>;

  static constexpr std::size_t kBytesMax = 64 << 20;
  /// From here on the next entry may drop another one: the limit for preparing in advance.
  static constexpr std::size_t kRoomBytesMax = kBytesMax / 8 * 7;

  /// For ordinals below `size`.
  PreparedCache(std::size_t size, Prepare prepare);

  Entry get(std::uint32_t ordinal);
  /// Updates the memory of `entry`, a result of get() for `ordinal`, which grows with each new
  /// form.
  void settle(std::uint32_t ordinal, const PreparedExchange& entry);
  /// Whether an entry can usually be added without dropping another.
  bool has_room() const { return bytes() < kRoomBytesMax; }
  /// The memory of all entries.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  /// An entry that one thread replaces while others read it. libstdc++ 12's atomic<shared_ptr> has
  /// a wrong memory order for that.
  class SharedEntry {
   public:
    Entry load() const {
      Turn const turn(busy_);
      return entry_;
    }
    Entry exchange(Entry entry) {
      Turn const turn(busy_);
      return std::exchange(entry_, std::move(entry));
    }

   private:
    struct Turn {
      explicit Turn(std::atomic_flag& flag) : busy(flag) {
        while (busy.test_and_set(std::memory_order_acquire)) {
        }
      }
      ~Turn() { busy.clear(std::memory_order_release); }
      std::atomic_flag& busy;
    };
    mutable std::atomic_flag busy_;
    Entry entry_;
  };

  struct Slot {
    SharedEntry entry;
    std::atomic<std::size_t> bytes = 0;  // as counted in bytes_
    std::atomic<bool> used = false;      // since its last turn
  };

  /// Requires mutex_.
  void count(Slot& slot, std::size_t bytes);
  /// Drops entries other than `latest`, in turn; an entry used since its last turn gets a second
  /// chance. Returns them, to be destroyed without the lock.
  [[nodiscard]] std::vector<Entry> shrink(std::uint32_t latest);
  /// Without mutex_.
  void destroy(std::vector<Entry> entries);

  Prepare prepare_;
  std::vector<Slot> slots_;          // by ordinal
  std::mutex mutex_;                 // for insertions and removals
  std::deque<std::uint32_t> turns_;  // the existing entries; the first is examined next
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<std::size_t> freed_ = 0;  // since the last malloc_trim(3)
};

}  // namespace reprise
