#include "analysis/advice/more_loads.h"

#include <cmath>

namespace reprise {

std::optional<double> times_the_loads_to_decide(const Finding& finding) {
  constexpr double kTimesMax = 20;
  auto const saving = -finding.shift.estimate;
  bool const seems_to_save = saving > 0 && saving >= finding.minimum_effect;
  if (finding.verdict != Verdict::kUndecided || !seems_to_save) return std::nullopt;
  auto const times = std::pow((finding.shift.high + saving) / saving, 2);
  bool const is_open = finding.shift.high > 0;
  return is_open && times <= kTimesMax ? std::optional(times) : std::nullopt;
}

std::chrono::minutes budget_for_loads(std::chrono::seconds budget,
                                      std::chrono::duration<double> measuring, double times) {
  return std::chrono::ceil<std::chrono::minutes>(budget + measuring * (times - 1));
}

}  // namespace reprise
