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

/// Compares the --cpu-throttle of both sides. DevTools only aims at the rate, so the browser that
/// `words`, of `load`, name is measured. With `kept`, the folder of an earlier `-o`, the figure of
/// that prediction is used instead. Without either, the rates themselves count.
ProcessorSlowdown processor_slowdown(const ExperimentSide& base, const ExperimentSide& changed,
                                     const std::vector<std::string>& words,
                                     const std::filesystem::path& kept);

}  // namespace reprise
