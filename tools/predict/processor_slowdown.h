#pragma once

// How much slower the processor of a changed page is (`reprise predict --to-cpu-throttle`).

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/experiment_side.h"

namespace reprise {

struct ProcessorSlowdown {
  double factor = 1;   ///< how many times longer the changed page computes
  std::string remark;  ///< a sentence about it; empty if nothing changes
  bool is_measured = false;
};

/// Of --cpu-throttle, of which DevTools aims at the rate only: measured in the browser of these
/// words of `load`, or as it was measured for a prediction in the folder `kept`, an earlier `-o`;
/// empty: there is none. What cannot be measured is what the options say.
ProcessorSlowdown processor_slowdown(const ExperimentSide& base, const ExperimentSide& changed,
                                     const std::vector<std::string>& words,
                                     const std::filesystem::path& kept);

}  // namespace reprise
