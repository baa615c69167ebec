#pragma once

// Which tokens changed: the shortest list of edits (Myers, "An O(ND) difference algorithm", 1986).
// Pure.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace reprise {

/// Tokens [a_begin, a_end) of A are [b_begin, b_end) in B. One of both can be empty.
struct Hunk {
  std::size_t a_begin = 0;
  std::size_t a_end = 0;
  std::size_t b_begin = 0;
  std::size_t b_end = 0;
  bool operator==(const Hunk&) const = default;
};

/// With more edits than this, all between the common start and the common end is one hunk.
inline constexpr std::size_t kEditsMax = 1'000;

/// The hunks in order. Those of (b, a) are those of (a, b), mirrored. Takes O((|a| + |b|) d) time
/// and O(d^2) memory for d edits, at most kEditsMax.
std::vector<Hunk> token_diff(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

}  // namespace reprise
