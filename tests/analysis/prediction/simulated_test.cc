// Predictions for generated pages, against the same pages changed and loaded in the simulator that
// knows nothing of the predictor.

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "analysis/prediction/changed_load.h"
#include "analysis/prediction/prediction.h"
#include "analysis/verdict.h"
#include "tests/analysis/dependency/generated_page.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

/// The same change, described to the simulator and to the predictor.
struct BothChanges {
  SimulatedChange simulated;
  PageChange predicted;
};

class ChangeMaker {
 public:
  using Takes = std::function<bool(const GeneratedRequest&)>;
  using Set = std::function<void(SimulatedChange&, int request)>;

  ChangeMaker(const GeneratedPage& page, const DependencyGraph& graph)
      : page_(page), graph_(graph) {}

  std::vector<BothChanges> all() const {
    auto const first_host = [](const GeneratedRequest& request) { return request.host == 0; };
    auto const image = [](const GeneratedRequest& request) { return request.type == "Image"; };
    auto const text = [](const GeneratedRequest& request) {
      return request.type == "Script" || request.type == "Stylesheet" || request.type == "Document";
    };
    auto const third_party = [](const GeneratedRequest& request) {
      return request.host > 1 && request.initiator > 0;
    };
    auto const late = [](const GeneratedRequest& request) {
      return request.type == "Font" || !request.executions.empty();
    };
    BothChanges far{
        .simulated = {.rtt_ms = 100},
        .predicted = {.parts = {{.nodes = all_nodes(graph_), .change = {.rtt_us = 100'000}}}}};
    BothChanges narrow{.simulated = {.rate = .1}, .predicted = {.link_factor = .1}};
    BothChanges throttled{
        .simulated = {.cpu = 4},
        .predicted = {.parts = {{.nodes = all_nodes(graph_), .change = {.cpu_factor = 4}}}}};
    return {
        std::move(far),
        std::move(narrow),
        std::move(throttled),
        of(first_host, {.think_factor = 3},
           [](auto& change, int i) { change.think_factor[i] = 3; }),
        of(first_host, {.think_factor = .2},
           [](auto& change, int i) { change.think_factor[i] = .2; }),
        of(third_party, {.think_us = 300'000},
           [](auto& change, int i) { change.hold_ms[i] = 300; }),
        of(image, {.bytes_factor = .5}, [](auto& change, int i) { change.bytes_factor[i] = .5; }),
        of(text, {.bytes_factor = 4}, [](auto& change, int i) { change.bytes_factor[i] = 4; }),
        of(late, {.preload = true}, [](auto& change, int k) { change.preloaded.insert(k); }),
        of(third_party, {.drop = true}, [](auto& change, int i) { change.dropped.insert(i); })};
  }

 private:
  BothChanges of(const Takes& takes, const NodeChange& change, const Set& set) const {
    BothChanges both;
    for (int i = 0; i < static_cast<int>(page_.requests.size()); ++i) {
      if (takes(page_.requests[static_cast<std::size_t>(i)])) set(both.simulated, i);
    }
    both.predicted.parts.push_back({.nodes = {}, .change = change});
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      auto const request =
          std::ranges::find(page_.requests, graph_.nodes[i].name, &GeneratedRequest::url);
      if (request != page_.requests.end() && takes(*request)) {
        both.predicted.parts.front().nodes.push_back(i);
      }
    }
    return both;
  }

  const GeneratedPage& page_;
  const DependencyGraph& graph_;
};

double median_of(const std::vector<ObservedPage>& loads, std::size_t milestone) {
  std::vector<double> values;
  for (ObservedPage const& load : loads) {
    values.push_back(static_cast<double>(*load.milestones[milestone]));
  }
  return median(values);
}

PredictionOptions options_for(const GeneratedPage& page) {
  return {.link = {.bytes_per_second = page.bytes_per_ms * 1000,
                   .rtt_us = static_cast<std::int64_t>(page.rtt_ms * 1000),
                   .ahead = {.bytes_max = page.socket_bytes, .bytes_left = page.socket_bytes / 2}}};
}

/// That replays have (proxy/listening_socket.h).
constexpr double kSocketBytes = 131'072;

/// Of predictions of pages that are alike.
struct Errors {
  std::vector<double> of_saving;  ///< where it is above 5 % of the load; of no change: 1
  std::vector<double> beside;     ///< elsewhere, as a share of the load
  std::size_t right_sign = 0;
};

/// Pages are more different than loads are: few of them would make a quantile a matter of luck.
constexpr std::size_t kPages = 40;

Errors errors_of_pages(std::uint64_t seed, double socket_bytes) {
  Errors errors;
  constexpr int kLoads = 15;
  for (std::uint64_t i = 0; i < kPages; ++i) {
    auto page = generate_page(seed * 2000 + i);
    page.socket_bytes = socket_bytes;
    auto const loads = simulate_loads(page, {}, seed + i, 12);
    auto const graph = search_dependencies(page, loads, seed + i).graph;
    auto const before = simulate_loads(page, {}, seed + 777 + i, kLoads);
    for (BothChanges const& change : ChangeMaker(page, graph).all()) {
      auto const prediction = predict(graph, loads, change.predicted, options_for(page));
      if (!prediction) {
        ADD_FAILURE() << prediction.error();
        continue;
      }
      auto const after = simulate_loads(page, change.simulated, seed + 777 + i, kLoads);
      for (MilestonePrediction const& milestone : prediction->milestones) {
        auto const place = static_cast<std::size_t>(milestone.milestone);
        double const whole = median_of(before, place);
        double const measured = whole - median_of(after, place);
        double const predicted = milestone.quantiles[0].saving_us;
        if (std::abs(measured) <= .05 * whole) {
          errors.beside.push_back(std::abs(predicted - measured) / whole);
          continue;
        }
        errors.of_saving.push_back(std::abs(predicted - measured) / std::abs(measured));
        errors.right_sign += (predicted > 0) == (measured > 0) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(errors.of_saving.size(), 17 * kPages);
  EXPECT_GE(static_cast<double>(errors.right_sign),
            .95 * static_cast<double>(errors.of_saving.size()));
  return errors;
}

TEST(Prediction, IsCloseToTheSimulatedSaving) {
  TestSeed const seed;
  // What waits in a socket hides when its server had it ready.
  for (double const socket_bytes : {0., kSocketBytes}) {
    SCOPED_TRACE(socket_bytes);
    auto const errors = errors_of_pages(seed.value(), socket_bytes);
    EXPECT_LE(median(errors.of_saving), .08);
    EXPECT_LE(quantile_of(errors.of_saving, .9), .5);
    EXPECT_LE(quantile_of(errors.beside, .95), .1);
    EXPECT_LE(median(errors.beside), .02);
  }
}

TEST(Prediction, IsExactlyWhatWasObservedIfNothingChanges) {
  TestSeed const seed;
  for (std::uint64_t i = 0; i < 12; ++i) {
    auto const page = generate_page(seed.value() * 3000 + i);
    auto const loads = simulate_loads(page, {}, seed.value() + i, 7);
    auto const graph = search_dependencies(page, loads, seed.value() + i).graph;
    PageChange const nothing = {.parts = {{.nodes = all_nodes(graph)}}};
    auto const prediction = *predict(graph, loads, nothing, options_for(page));
    ASSERT_EQ(prediction.milestones.size(), kMilestones);
    for (MilestonePrediction const& milestone : prediction.milestones) {
      EXPECT_THAT(milestone.predicted_us, testing::ContainerEq(milestone.observed_us));
      for (PredictedQuantile const& quantile : milestone.quantiles) {
        EXPECT_EQ(quantile.saving_us, 0);
        EXPECT_EQ(quantile.saving_low_us, 0);
        EXPECT_EQ(quantile.saving_high_us, 0);
      }
    }
  }
}

TEST(Prediction, RebuildsAnObservedLoadFromItsParts) {
  TestSeed const seed;
  std::vector<double> errors;
  for (std::uint64_t i = 0; i < 60; ++i) {
    auto page = generate_page(seed.value() * 4000 + i);
    if (i % 2 == 1) page.socket_bytes = kSocketBytes;
    auto const loads = simulate_loads(page, {}, seed.value() + i, 5);
    auto const graph = search_dependencies(page, loads, seed.value() + i).graph;
    std::vector<NodeChange> const nothing(graph.nodes.size());
    for (ObservedPage const& load : loads) {
      auto const parts = load_parts(graph, load, options_for(page).link);
      auto const times = changed_load(graph, parts, nothing, 1);
      for (std::size_t k = 0; k < kMilestones; ++k) {
        auto const observed = static_cast<double>(*load.milestones[k]);
        errors.push_back(std::abs(*times[k] - observed) / observed);
      }
    }
  }
  EXPECT_LE(median(errors), .02);
  EXPECT_LE(quantile_of(errors, .9), .07);
}

}  // namespace
}  // namespace reprise
