#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reprise {

/// What a client session was given so far. Thread-safe; one per client session.
class SequenceCursors {
 public:
  /// `entry_count`: that of the archive, reader.entries().size().
  explicit SequenceCursors(std::size_t entry_count) : taken_(entry_count), given_(entry_count) {}
  /// Starts every sequence again.
  void reset();

 private:
  friend class Matcher;
  void give(std::uint32_t ordinal) {
    // Looked at first: writing each time would bounce the line between threads.
    auto& given = given_[ordinal];
    if (!given.load(std::memory_order_relaxed)) given.store(true, std::memory_order_relaxed);
  }
  std::atomic<std::uint32_t>& place_in(std::uint64_t group) {
    return places_[group % places_.size()];
  }

  /// At the ordinal where a sequence starts: how far behind it the next answer is looked for. Zero
  /// while it was never asked; else the last answer was at that distance less one.
  std::vector<std::atomic<std::uint32_t>> taken_;
  std::vector<std::atomic<bool>> given_;
  /// By group (several may share one): which member comes behind the last that was given.
  std::array<std::atomic<std::uint32_t>, 1024> places_{};
};

}  // namespace reprise
