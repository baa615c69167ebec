#pragma once

// Which request of B is which of A. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/differences/recorded_page.h"

namespace reprise {

/// Positions in RecordedPage::exchanges.
struct AlignedPair {
  std::size_t a = 0;
  std::size_t b = 0;
  bool operator==(const AlignedPair&) const = default;
};

struct Alignment {
  /// In the order of A; those that a document shows to be the same come last.
  std::vector<AlignedPair> pairs;
  std::vector<std::size_t> only_a;  ///< in order
  std::vector<std::size_t> only_b;
};

/// Pairs requests of one method: the n-th of one URL, body and range with the n-th; then, of those
/// that are left, of one URL; of URLs that differ only in volatile values
/// (archive/match/steady_request.h); of one origin and path; of one origin, shape of the path and
/// parameters' names; of one media type and body of the response. Parts of different ranges are no
/// pair. Mirrored for (b, a). Takes O(n log n) time.
Alignment align(const RecordedPage& a, const RecordedPage& b);

/// A target without what changes from one recording or deployment to the next: numbers, hashes and
/// random words of its path become "*"; of the query only the names stay, in order.
std::string shape_of_target(std::string_view target);

}  // namespace reprise
