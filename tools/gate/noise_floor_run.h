#pragma once

// `gate --aa`: one side against itself, to say what a gate could see.

#include <cstddef>
#include <filesystem>
#include <string>

#include "analysis/noise_floor.h"

namespace reprise {

struct NoiseFloorRun {
  std::string side;             ///< arguments of `load`
  std::filesystem::path loads;  ///< instead, a result that has them; empty: `side` is loaded
  std::size_t count = 60;       ///< loads of `side`, beside one that warms up
  /// A folder for a.json (if the side is loaded) and noise.json; empty: neither is written.
  std::filesystem::path output;
  bool json = false;
  NoiseFloorOptions options;  ///< its seed is also that of the loads
};

/// Loads the side, disturbed loads again within DisturbedRepeats, and prints what a gate could see.
/// Returns the exit code.
int run_noise_floor(const NoiseFloorRun& run);

}  // namespace reprise
