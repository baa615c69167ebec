#include "shaper/packet/lateness_chain.h"

#include <algorithm>
#include <iterator>

namespace reprise {

std::chrono::nanoseconds LatenessChain::cost_before(std::chrono::nanoseconds arrived) const {
  auto const after = std::ranges::upper_bound(steps_, arrived, {}, &Step::written);
  if (after != steps_.begin()) return std::prev(after)->cost;
  return forgot_ ? after->cost : std::chrono::nanoseconds(0);
}

void LatenessChain::add(std::chrono::nanoseconds arrived, std::chrono::nanoseconds due,
                        std::chrono::nanoseconds written) {
  if (last_written_.count() == 0) first_arrived_ = arrived;
  last_written_ = written;
  auto const late = written - due;
  if (late.count() <= 0) return;
  auto const cost = cost_before(arrived) + late;
  if (cost <= this->cost()) return;
  if (!steps_.empty() && steps_.back().written == written) {
    steps_.back().cost = cost;
    return;
  }
  steps_.push_back({written, cost});
  if (steps_.size() <= kStepsMax) return;
  steps_.pop_front();
  forgot_ = true;
}

}  // namespace reprise
