#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "analysis/noise_floor.h"

namespace reprise {

/// Tables of the effects visible with numbers of runs, and counts of the verdicts of splits.
std::string noise_floor_text(const NoiseFloor& floor);

/// Schema `reprise-noise/1`; docs/compare.md describes it.
boost::json::object noise_floor_json(const NoiseFloor& floor);

}  // namespace reprise
