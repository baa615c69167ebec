#pragma once

// Which loads of a result the machine disturbed, as `reprise compare` judges by default. Pure.

#include <cstddef>
#include <string>

#include "analysis/disturbance.h"
#include "pageload/results/load_result.h"

namespace reprise {

/// Judges loads one after the other, while more are made.
class DisturbedLoads {
 public:
  /// Sets LoadResult::Load::disturbed of the last load, unless it warms up, by what the host took
  /// from those before.
  void judge_last(LoadResult& result);

 private:
  UsualSteal usual_;
};

/// The same for all loads, if there are several, when all are known: what the host takes from all
/// disturbs none.
void judge_all(LoadResult& result);

/// "3 of 10 loads were disturbed and do not count ...", and why the first of them; a line. Empty if
/// none was, or only loads that failed.
std::string disturbed_loads_text(const LoadResult& result);

}  // namespace reprise
