#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "archive/exchange.h"

namespace reprise {

/// When the pieces of a body came, at most kChunkTimesMax of them: where there is no room, two
/// neighbours become one that came with the later of them, all along the body, so that a stream
/// that goes on for ever keeps its pace.
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
