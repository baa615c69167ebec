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

/// The exchanges of an archive as they are served, prepared by the first who asks and kept as long
/// as they take no more than kBytesMax together: then those that were not used for longest go, and
/// are prepared again when they are asked for. Whoever uses one keeps it alive. Thread-safe; what
/// is there is found without the lock that all share.
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
  /// Counts what `entry`, which get() gave for `ordinal`, takes by now: more than before where
  /// another form of it was made.
  void settle(std::uint32_t ordinal, const PreparedExchange& entry);
  /// Whether an entry can usually be added without dropping another.
  bool has_room() const { return bytes() < kRoomBytesMax; }
  /// What the entries take.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  /// An entry that one thread replaces while others take it. libstdc++ 12's atomic<shared_ptr>
  /// does not order the one before the other.
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
    std::atomic<bool> used = false;      // since its turn came
  };

  /// With mutex_ held.
  void count(Slot& slot, std::size_t bytes);
  /// Lets others than `latest` go, in turn; who was used since its last turn has a second chance.
  /// Returns them, to be destroyed without the lock.
  [[nodiscard]] std::vector<Entry> shrink(std::uint32_t latest);
  /// Without mutex_.
  void destroy(std::vector<Entry> entries);

  Prepare prepare_;
  std::vector<Slot> slots_;          // by ordinal
  std::mutex mutex_;                 // of what comes and goes
  std::deque<std::uint32_t> turns_;  // those that are there; the first is looked at next
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<std::size_t> freed_ = 0;  // since the last malloc_trim(3)
};

}  // namespace reprise
