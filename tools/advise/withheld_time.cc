#include "tools/advise/withheld_time.h"

#include <algorithm>

namespace reprise {

double seconds_withheld(std::size_t may_help, double seconds_of_step, double seconds_left) {
  if (may_help < 2) return 0;
  auto const steps = static_cast<double>(may_help - 1);
  auto const withheld = std::min(steps * seconds_of_step, seconds_left / 2);
  return withheld < seconds_of_step ? 0 : withheld;
}

}  // namespace reprise
