#pragma once

#include <boost/json/object.hpp>

#include "analysis/comparison.h"

namespace reprise {

/// The verdict about two results, as MODEL.md describes `comparison`. Pure.
boost::json::object verdict_json(const Comparison& comparison);

}  // namespace reprise
