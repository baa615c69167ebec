#pragma once

// What a what-if, or another link, protocol or processor, is to the model of a page
// (analysis/prediction).

#include <expected>
#include <span>
#include <string>

#include "analysis/prediction/load_parts.h"
#include "tools/experiment/experiment_side.h"
#include "tools/predict/predicted_what_ifs.h"

namespace reprise {

/// What `changed` has otherwise than `base`: what-ifs, link, protocol, processor. Each side has one
/// cell; `loads` are of `base`. `slowdown`: how many times longer the changed page computes;
/// nothing: as --cpu-throttle says. Errors as above.
std::expected<PredictedChange, std::string> predicted_change(const ExperimentSide& base,
                                                             const ExperimentSide& changed,
                                                             const DependencyGraph& graph,
                                                             std::span<const ObservedPage> loads,
                                                             std::optional<double> slowdown = {});

/// As the model takes it; unknown without a link, and behind one that replays a trace.
PredictionLink prediction_link(const ExperimentSide& side);

}  // namespace reprise
