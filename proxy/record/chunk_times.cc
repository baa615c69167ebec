#include "proxy/record/chunk_times.h"

namespace reprise {

void ChunkTimes::add(const ChunkTime& chunk) {
  if (!times_.empty() && pieces_in_last_ < pieces_in_one_) {
    times_.back() = chunk;
    ++pieces_in_last_;
    return;
  }
  if (times_.size() == kChunkTimesMax) {
    std::size_t kept = 0;
    for (std::size_t later = 1; later < times_.size(); later += 2) times_[kept++] = times_[later];
    times_.resize(kept);
    pieces_in_one_ *= 2;
  }
  times_.push_back(chunk);
  pieces_in_last_ = 1;
}

}  // namespace reprise
