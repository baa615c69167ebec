#pragma once

// "The slowest 10 %" out of merged partial results, after the fact. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/partials/partial_table.h"

namespace reprise {

/// A slice's views by bin of load time. The sums are those of a line: views, windows, kinds.
class LoadBins {
 public:
  /// Adds a line whose key ends in `|` and a bin. Returns false, and adds nothing, if it does not,
  /// if it has another number of sums, or if a sum becomes larger than 63 bits.
  bool add(const PartialLine& line);

  /// The sums of the slowest views, `percent` (above 0, at most 100) of all: the bins from the top,
  /// and of the last one a part in proportion. An error is at most what the views in that bin
  /// differ among themselves.
  std::vector<double> slowest(double percent) const;

 private:
  std::vector<std::vector<std::int64_t>> bins_;  ///< empty where there are none
  std::size_t sums_ = 0;
};

}  // namespace reprise
