#pragma once

// The distribution of how long a service takes for a request under a change, by Monte Carlo over
// whole observed requests. Pure; deterministic by seed. SERVICE.md says what the model contains.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/prediction/sampled_quantiles.h"
#include "analysis/service/scenario.h"
#include "analysis/service/service_graph.h"

namespace reprise {

struct ServicePredictionOptions {
  std::vector<double> quantiles = {.5, .75, .9};  ///< each above 0 and below 1
  /// As in PredictionOptions, where something is drawn or many users are simulated.
  double bound = .01;
  std::size_t samples_max = 20'000;
  std::uint64_t seed = 1;
  std::uint32_t workers = 1;  ///< requests whose own work a replica does at a time; 1 or more
  /// How long workers were busy for a request when the traces were recorded, where many users are
  /// simulated (the service demand of Denning and Buzen, 1978); 0: it is not known.
  double service_demand_us = 0;
};

struct ServicePrediction {
  PredictedTimes times;
  bool within_bound = false;  ///< otherwise samples_max ended it
  /// Where many users are simulated, the ratio of a request's work to what its spans show as own
  /// work. Below 1 the rest was waiting for other requests; above 1 the spans do not contain all
  /// work.
  double work_factor = 1;
};

/// Each sample is a whole observed request, put together again: a call starts when what it waits
/// for has ended, and after the same own work. So no change predicts exactly what was observed.
/// `requests` are those the graph was learnt from, and not empty; `change` is of this graph.
ServicePrediction predict_service(const ServiceGraph& graph,
                                  std::span<const ServiceRequest> requests,
                                  const ServiceChange& change,
                                  const ServicePredictionOptions& options);

}  // namespace reprise
