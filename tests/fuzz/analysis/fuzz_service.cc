// Traces of a service: whatever they are, a graph without cycles, and predictions that are times.
// Profiles: whatever is written, it is a profile or a fault, and comes back as it was.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/service/service_prediction.h"
#include "analysis/spans/span_file.h"

using namespace reprise;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_prediction(const ServiceEndpoint& endpoint, const ServiceGraph& graph,
                      std::string_view scenario, double demand_us = 0) {
  std::vector<ServiceScenario> const scenarios = {*parse_service_scenario(scenario)};
  auto const change = service_change(graph, endpoint.requests, scenarios, {});
  if (!change) return check(!change.error().empty());
  auto const predicted = predict_service(graph, endpoint.requests, *change,
                                         {.samples_max = 100, .service_demand_us = demand_us})
                             .times.predicted_us;
  check(!predicted.empty());
  for (double const time : predicted) check(std::isfinite(time) && time >= 0);
}

void check_profile(std::string_view text) {
  auto const profile = read_latency_profile(text);
  if (!profile) return check(!profile.error().empty());
  auto const written = latency_profile_json(*profile);
  auto const again = read_latency_profile(written);
  check(again && latency_profile_json(*again) == written);
  for (auto const& each : profile->dependencies) {
    auto const times = each.at("SELECT", each.observed);
    check(times ? std::isfinite(times->at(.5)) : !times.error().empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  check_profile(text);
  auto const set = read_span_file(text);
  if (!set) return 0;
  std::vector<CallLoss> losses;
  for (ServiceEndpoint const& endpoint : service_endpoints(*set, losses)) {
    auto const graph = learn_service(endpoint);
    for (DependencyEdge const& edge : graph.graph.edges) check(edge.from < edge.to);
    check_prediction(endpoint, graph, "*: rtt=-3ms");
    check_prediction(endpoint, graph, "service: users=3, cpu=x2");
    check_prediction(endpoint, graph, "service: users=3, lost=1/2", 1e9);
  }
  return 0;
}
