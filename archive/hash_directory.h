#pragma once

// Finds the range of hashes with certain first bits in a sorted list: a look-up compares about one
// hash, for any number of them. Pure. FORMAT.md: "buckets".

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace reprise {

inline constexpr unsigned kDirectoryBitsMax = 25;

inline unsigned directory_bits(std::size_t hash_count) {
  return std::clamp(static_cast<unsigned>(std::bit_width(hash_count)), 1U, kDirectoryBitsMax);
}

constexpr std::uint64_t directory_size(unsigned bits) {
  return (std::uint64_t{1} << bits) + 1;
}

/// directory[b]: the number of hashes whose top bits are below b. `hash_at(i)` ascends.
template <class HashAt>
std::vector<std::uint32_t> make_directory(std::size_t count, unsigned bits, HashAt hash_at) {
  std::vector<std::uint32_t> directory(directory_size(bits));
  for (std::size_t i = 0; i < count; ++i) ++directory[(hash_at(i) >> (64 - bits)) + 1];
  std::partial_sum(directory.begin(), directory.end(), directory.begin());
  return directory;
}

inline bool is_directory(std::span<const std::uint32_t> directory, std::size_t count) {
  return directory.front() == 0 && directory.back() == count && std::ranges::is_sorted(directory);
}

/// The range of hashes that begin like `hash` in a list of `count`: first, and one after the last.
/// The directory is not trusted: another process may write to the mapped file.
inline std::pair<std::size_t, std::size_t> directory_bounds(
    std::span<const std::uint32_t> directory, unsigned bits, std::size_t count,
    std::uint64_t hash) {
  auto const bucket = hash >> (64 - bits);
  auto const end = std::min<std::size_t>(directory[bucket + 1], count);
  return {std::min<std::size_t>(directory[bucket], end), end};
}

}  // namespace reprise
