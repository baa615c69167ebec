#pragma once

#include <cstdint>

#include "shaper/random.h"
#include "shaper/settings.h"

namespace reprise {

/// Which packets a LossModel loses: a function of the seed and of the packets' indices, whatever
/// their times and sizes. Gilbert (1960) and Elliott (1963); the letters are those of netem's
/// gemodel.
class LossProcess {
 public:
  LossProcess(const LossModel& model, std::uint64_t seed, std::uint64_t stream);

  /// Whether packet `index` is lost. To be asked once for every packet, in order.
  bool loses(std::uint64_t index);

  /// Another model from the next packet on.
  void change(const LossModel& model);

 private:
  LossModel model_;
  RandomStream loss_random_;
  RandomStream state_random_;
  bool bad_ = false;
};

}  // namespace reprise
