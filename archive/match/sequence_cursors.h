#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise {

/// The answers served to a client session so far. Thread-safe; one per client session.
class SequenceCursors {
 public:
  /// `entry_count`: reader.entries().size() of the archive.
  explicit SequenceCursors(std::size_t entry_count) : taken_(entry_count), given_(entry_count) {}
  /// Restarts every sequence.
  void reset();

 private:
  friend class Matcher;
  void give(std::uint32_t ordinal) {
    // Read first: writing each time would bounce the cache line between threads.
    auto& given = given_[ordinal];
    if (!given.load(std::memory_order_relaxed)) given.store(true, std::memory_order_relaxed);
  }
  std::atomic<std::uint32_t>& place_in(std::uint64_t group) {
    return places_[group % places_.size()];
  }

  /// At the ordinal where a sequence starts: the distance at which to look for the next answer.
  /// Zero before the first request; then the last answer was at that distance less one.
  std::vector<std::atomic<std::uint32_t>> taken_;
  std::vector<std::atomic<bool>> given_;
  /// By group (several may share one): the member after the last one served.
  std::array<std::atomic<std::uint32_t>, 1024> places_{};
};

}  // namespace reprise
