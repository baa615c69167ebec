#pragma once

// A service's graph and its prediction, for people and for programs (docs/predict-service.md).

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "analysis/service/service_graph.h"
#include "analysis/service/service_prediction.h"

namespace reprise {

/// A line for each call: when, how often, what it waits for; then what is ambiguous, retried or in
/// the background.
std::string service_graph_text(const ServiceGraph& graph);

/// Of schema `reprise-service-prediction/1`: the graph as in DEPENDENCY.md, `joins`, `ambiguous`,
/// `background` and `retried`.
boost::json::object service_graph_json(const ServiceGraph& graph);

/// Times in ms, one in each line, as `--what-if 'FILTER: think=FILE'` reads them.
std::string think_times_text(const std::vector<double>& times_us);

}  // namespace reprise
