#include "shaper/packet/lateness_chain.h"

#include <algorithm>
#include <iterator>

namespace reprise {

std::chrono::nanoseconds LatenessChain::cost_before(std::chrono::nanoseconds arrived) const {
  auto const after = std::ranges::upper_bound(steps_, arrived, {}, &Step::begun);
  if (after != steps_.begin()) return std::prev(after)->cost;
  return forgot_ ? after->cost : std::chrono::nanoseconds(0);
}

void LatenessChain::add(const Packet& packet) {
  if (last_written_.count() == 0) first_arrived_ = packet.arrived;
  last_written_ = packet.written;
  auto const late = packet.written - packet.due;
  if (late.count() <= 0) return;
  auto const cost = cost_before(packet.arrived) + late;
  if (cost <= this->cost()) return;
  curve_.add(packet.begun, cost);
  if (!steps_.empty() && steps_.back().begun == packet.begun) {
    steps_.back().cost = cost;
    return;
  }
  steps_.push_back({packet.begun, cost});
  if (steps_.size() <= kStepsMax) return;
  steps_.pop_front();
  forgot_ = true;
}

}  // namespace reprise
