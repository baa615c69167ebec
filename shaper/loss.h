#pragma once

#include <cstdint>

#include "shaper/random.h"
#include "shaper/settings.h"

namespace reprise {

/// Decides which packets a LossModel loses: a function of the seed and of the packets' indices,
/// independent of their times and sizes. Gilbert (1960) and Elliott (1963); letters as in netem's
/// gemodel.
class LossProcess {
 public:
  LossProcess(const LossModel& model, std::uint64_t seed, std::uint64_t stream);

  /// Whether packet `index` is lost. Call it once per packet, in order.
  bool loses(std::uint64_t index);

  /// Sets another model from the next packet on.
  void change(const LossModel& model);

 private:
  LossModel model_;
  RandomStream loss_random_;
  RandomStream state_random_;
  bool bad_ = false;
};

}  // namespace reprise
