// Loads as lines of calls (CALLS.md), of one page: whatever they contain, dependencies are learnt,
// tested and predicted from, no graph has a cycle, and no change changes nothing.

#include <cstdlib>
#include <string_view>
#include <vector>

#include "analysis/calls/call_lines.h"
#include "analysis/dependency/dependency_json.h"
#include "analysis/dependency/learn.h"
#include "analysis/dependency/perturbation.h"
#include "analysis/prediction/prediction.h"

using namespace reprise;

namespace {

constexpr std::size_t kLoadsMax = 8;
constexpr std::size_t kCallsMax = 200;

void check(bool holds) {
  if (!holds) std::abort();
}

std::vector<ObservedPage> loads_of(std::string_view text) {
  std::vector<ObservedPage> loads;
  while (!text.empty() && loads.size() < kLoadsMax) {
    auto const line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    auto tree = read_call_line(line);
    if (!tree || tree->calls.size() > kCallsMax) continue;
    ObservedPage load{.calls = std::move(*tree), .milestones = {}};
    for (std::size_t i = 0; i < kMilestones; ++i) {
      load.milestones[i] = load.calls.window_us * static_cast<std::int64_t>(i + 1) / 4;
    }
    loads.push_back(std::move(load));
  }
  return loads;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const loads = loads_of({reinterpret_cast<const char*>(data), size});
  if (loads.empty()) return 0;
  DependencySearch search(learn_dependencies(loads), loads);
  for (int i = 0; i < 4; ++i) {
    auto const perturbation = search.next();
    if (!perturbation) break;
    check(perturbation->hold_us > 0);
    search.take(*perturbation, loads);
  }
  DependencyGraph const& graph = search.graph();
  for (DependencyEdge const& edge : graph.edges) {
    check(edge.from < edge.to && edge.to < graph.nodes.size());
  }
  auto const text = dependency_graph_json(graph);
  auto const read = read_dependency_graph(text);
  check(read && dependency_graph_json(*read) == text);

  PredictionOptions const options{.link = {.bytes_per_second = 1e6}};
  auto const same = predict(graph, loads, {}, options);
  check(same.has_value());
  for (MilestonePrediction const& milestone : same->milestones) {
    check(milestone.predicted_us == milestone.observed_us);
  }
  PageChange const change = {.parts = {{.nodes = all_nodes(graph),
                                        .change = {.think_factor = .5,
                                                   .rtt_us = 1'000,
                                                   .bytes_factor = 2,
                                                   .preload = true,
                                                   .protocol = PredictedProtocol::kH1,
                                                   .cpu_factor = 3}}},
                             .link_factor = .5};
  check(predict(graph, loads, change, options).has_value());
  return 0;
}
