#pragma once

// Sums by key. Of many keys, the next one is most often in no cache of the processor: each is at
// two places in memory, and the first one can be fetched ahead. Pure.

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

namespace reprise {

/// Not thread-safe.
class KeyedSums {
 public:
  struct Line {
    std::string_view key;
    std::span<std::int64_t> sums;
  };

  KeyedSums(std::size_t sums_of_key, std::size_t keys_max)
      : sums_of_key_(sums_of_key), keys_max_(keys_max), places_(kPlacesMin) {}

  /// Begins to fetch the place of a key, for find() some work later. Returns its hash.
  std::size_t expect(std::string_view key) const;
  /// The sums of a key, zeros of a new one; empty if it is one too many. Valid until clear().
  /// `hash` is that of expect().
  std::span<std::int64_t> find(std::string_view key, std::size_t hash);
  /// All keys, in the order of their bytes; valid until clear().
  std::vector<Line> sorted() const;
  void clear();

 private:
  static constexpr std::size_t kPlacesMin = 1 << 10;

  struct Place {
    std::size_t hash = 0;
    std::int64_t* row = nullptr;  ///< the sums, the size of the key in bytes, and its bytes
  };

  Line line_at(std::int64_t* row) const;
  Place& place_of(std::string_view key, std::size_t hash);
  void grow();

  std::size_t sums_of_key_;
  std::size_t keys_max_;
  std::size_t size_ = 0;
  std::vector<Place> places_;  ///< open addressing, a power of two of places
  std::pmr::monotonic_buffer_resource rows_;
};

}  // namespace reprise
