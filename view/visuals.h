#pragma once

#include <boost/json/object.hpp>

#include "analysis/visual/trace_visuals.h"
#include "view/model.h"

namespace reprise {

/// Adds the frames of the current load in which something changed, and returns what else was seen,
/// as MODEL.md describes it. Frames that cannot be decoded are skipped.
boost::json::object add_visuals(const TraceVisuals& visuals, ViewModel& model);

}  // namespace reprise
