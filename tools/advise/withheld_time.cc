#include "tools/advise/withheld_time.h"

#include <algorithm>

namespace reprise {

double seconds_withheld(std::size_t may_help, double seconds_of_step, double seconds_left) {
  auto const withheld = std::min(seconds_of_steps(may_help, seconds_of_step), seconds_left / 2);
  return withheld < seconds_of_step ? 0 : withheld;
}

double seconds_of_steps(std::size_t helping, double seconds_of_step) {
  return helping < 2 ? 0 : static_cast<double>(helping - 1) * seconds_of_step;
}

}  // namespace reprise
