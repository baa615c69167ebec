#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "archive/exchange.h"

namespace reprise {

/// The arrival times of a body's pieces, at most kChunkTimesMax: beyond it, two neighbours are
/// merged, with the later time, evenly along the body, so that an endless stream keeps its pace.
class ChunkTimes {
 public:
  void add(const ChunkTime& chunk);
  std::vector<ChunkTime> take() { return std::move(times_); }

 private:
  std::vector<ChunkTime> times_;
  std::size_t pieces_in_one_ = 1;
  std::size_t pieces_in_last_ = 0;
};

}  // namespace reprise
