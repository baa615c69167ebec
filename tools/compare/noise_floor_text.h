#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "analysis/noise_floor.h"

namespace reprise {

/// A table of what can be seen with how many runs, and how many splits say what.
std::string noise_floor_text(const NoiseFloor& floor);

/// Schema `reprise-noise/1`; docs/compare.md describes it.
boost::json::object noise_floor_json(const NoiseFloor& floor);

}  // namespace reprise
