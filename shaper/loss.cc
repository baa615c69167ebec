#include "shaper/loss.h"

namespace reprise {
LossProcess::LossProcess(const LossModel& model, std::uint64_t seed, std::uint64_t stream)
    : model_(model),
      loss_random_(seed, stream, Purpose::loss),
      state_random_(seed, stream, Purpose::loss_state) {}

bool LossProcess::loses(std::uint64_t index) {
  double const share = bad_ ? model_.in_bad : model_.in_good;
  bool const lost = share > 0 && loss_random_.fraction(index) < share;
  double const leave = bad_ ? model_.bad_to_good : model_.good_to_bad;
  if (leave > 0 && state_random_.fraction(index) < leave) bad_ = !bad_;
  return lost;
}

void LossProcess::change(const LossModel& model) {
  model_ = model;
  if (model_.good_to_bad == 0) bad_ = false;
}

}  // namespace reprise
