#include "analysis/prediction/prediction.h"

#include <gmock/gmock.h>

#include <cmath>

#include "analysis/dependency/learn.h"
#include "tests/analysis/dependency/observed_trees.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A document, and a script of another site that takes `wait_ms`.
ObservedPage load_of(std::int64_t wait_ms) {
  auto const end = 110 + wait_ms;
  auto load = written_load({{"https://a.test/", "Document", 0, 50, 100, ""},
                            {"https://ads.test/b.js", "Script", 110, end, end, "https://a.test/"}});
  load.milestones[static_cast<std::size_t>(Milestone::kLoadEvent)] = (end + 10) * 1000;
  return load;
}

struct Loads {
  std::vector<ObservedPage> loads = {load_of(100), load_of(120), load_of(140), load_of(160),
                                     load_of(180)};
  DependencyGraph graph = learn_dependencies(loads);
};

TEST(Predict, AddsTheEffectToWhatWasObserved) {
  Loads const page;
  PageChange const change = {.parts = {{.nodes = {1}, .change = {.think_us = 30'000}}}};
  auto const prediction = *predict(page.graph, page.loads, change, {});
  EXPECT_EQ(prediction.samples, 5);
  ASSERT_EQ(prediction.milestones.size(), 1);
  MilestonePrediction const& load = prediction.milestones[0];
  EXPECT_EQ(load.milestone, Milestone::kLoadEvent);
  EXPECT_EQ(load.loads, 5);
  EXPECT_TRUE(load.within_bound);
  EXPECT_THAT(load.predicted_us, ElementsAre(250'000, 270'000, 290'000, 310'000, 330'000));
  ASSERT_EQ(load.quantiles.size(), 2);
  EXPECT_EQ(load.quantiles[0].observed_us, 260'000);
  EXPECT_EQ(load.quantiles[0].predicted_us, 290'000);
  EXPECT_EQ(load.quantiles[0].saving_us, -30'000);
  EXPECT_EQ(load.quantiles[0].saving_low_us, -30'000) << "of every resample";
  EXPECT_EQ(load.quantiles[0].low_us, 250'000);
  EXPECT_EQ(load.quantiles[0].high_us, 330'000);
  EXPECT_EQ(load.quantiles[1].predicted_us, 330'000);
}

TEST(Predict, TakesTheRoundTripFromTheLinkOrTheShortestWait) {
  Loads const page;
  PageChange const change = {.parts = {{.nodes = {1}, .change = {.think_factor = 0}}}};
  PredictionOptions const known = {.link = {.rtt_us = 20'000}};
  EXPECT_EQ(predict(page.graph, page.loads, change, known)->milestones[0].quantiles[0].saving_us,
            120'000);
  EXPECT_EQ(predict(page.graph, page.loads, change, {})->milestones[0].quantiles[0].saving_us,
            90'000)
      << "the document's 50 ms";
}

TEST(Predict, DrawsThinkTimesUntilTheQuantilesAreKnown) {
  Loads const page;
  PageChange change = {.parts = {{.nodes = {1}}}};
  for (std::int64_t i = 0; i < 1000; ++i) change.parts[0].think_draws_us.push_back(i * 200);
  auto const prediction = *predict(page.graph, page.loads, change, {.bound = .02});
  MilestonePrediction const& load = prediction.milestones[0];
  EXPECT_TRUE(load.within_bound);
  EXPECT_EQ(load.predicted_us.size(), prediction.samples);
  EXPECT_EQ(prediction.samples % 5, 0) << "all loads equally often";
  EXPECT_NEAR(load.quantiles[0].predicted_us, 360'000, 15'000);

  auto const same = *predict(page.graph, page.loads, change, {.bound = .02});
  EXPECT_EQ(same.milestones[0].predicted_us, load.predicted_us);
  auto const other = *predict(page.graph, page.loads, change, {.bound = .02, .seed = 2});
  EXPECT_NE(other.milestones[0].predicted_us, load.predicted_us);
  auto const closer = *predict(page.graph, page.loads, change, {.bound = .01});
  EXPECT_GT(closer.samples, prediction.samples);
  auto const few = *predict(page.graph, page.loads, change, {.bound = .01, .samples_max = 103});
  EXPECT_EQ(few.samples, 100);
  EXPECT_FALSE(few.milestones[0].within_bound);
}

TEST(Predict, AppliesAllPartsToANode) {
  Loads const page;
  PageChange const change = {
      .parts = {{.nodes = {1}, .change = {.think_factor = .5, .think_us = 7'000}},
                {.nodes = {0, 1}, .change = {.think_us = 1'000}}}};
  // Of 140 ms, 90 are the server's.
  EXPECT_EQ(predict(page.graph, page.loads, change, {})->milestones[0].quantiles[0].saving_us,
            45'000 - 7'000 - 2'000);
}

TEST(Predict, SaysWhyItCannot) {
  Loads const page;
  auto const fault = [&](const PageChange& change, const PredictionOptions& options) {
    auto const prediction = predict(page.graph, page.loads, change, options);
    return prediction ? "predicted" : prediction.error();
  };
  EXPECT_EQ(fault({}, {}), "predicted");
  EXPECT_THAT(fault({.link_factor = 0}, {}), HasSubstr("link's rate"));
  EXPECT_THAT(fault({.parts = {{.nodes = {99}}}}, {}), HasSubstr("a node"));
  EXPECT_THAT(fault({.parts = {{.nodes = {1}, .change = {.cpu_factor = -1}}}}, {}),
              HasSubstr("factor"));
  EXPECT_THAT(fault({.parts = {{.nodes = {1}, .change = {.bytes_factor = NAN}}}}, {}),
              HasSubstr("factor"));
  EXPECT_THAT(fault({}, {.quantiles = {}}), HasSubstr("quantile"));
  EXPECT_THAT(fault({}, {.quantiles = {1}}), HasSubstr("quantile"));
  EXPECT_THAT(fault({}, {.link = {.bytes_per_second = -1}}), HasSubstr("rate"));
  EXPECT_THAT(predict(page.graph, {}, {}, {}).error(), HasSubstr("no loads"));
  DependencyGraph const empty;
  EXPECT_THAT(predict(empty, page.loads, {}, {}).error(), HasSubstr("milestone"));
}

}  // namespace
}  // namespace reprise
