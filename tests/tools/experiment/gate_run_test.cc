#include "tools/experiment/gate_run.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "analysis/metric.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr int kWouldLoad = 77;

/// The end of a gate between these sides; kWouldLoad if it loads A to measure its noise.
class RefusedGate : public testing::Test {
 protected:
  using Words = std::vector<std::string>;

  std::expected<GateResult, int> run(Words of_a, Words of_b, std::set<Mismatch> allowed = {}) {
    std::vector<ExperimentSide> sides;
    for (Words* words : {&of_a, &of_b}) {
      words->insert(words->begin(), "a.reprise");
      auto side = ExperimentSide::of_words(std::move(*words));
      if (!side) return std::unexpected(side.error().exit_code);
      sides.push_back(std::move(*side));
    }
    allowed.merge(stated_differences(sides[0], sides[1]));
    gate.emplace(GateOptions{.compare = {.allowed = std::move(allowed)}},
                 Experiment(std::move(sides), 30));
    return gate->run(60s, folder.path(), []() -> std::expected<ExperimentSide, int> {
      return std::unexpected(int{kWouldLoad});
    });
  }

  ScratchFolder folder;
  std::optional<GateRun> gate;
};

std::vector<std::string> refusals_in(const GateResult& result) {
  std::vector<std::string> texts;
  for (const Refusal& each : result.look.comparison.refusals) texts.push_back(each.text);
  return texts;
}

TEST_F(RefusedGate, HasSidesWithOtherPages) {
  auto const result = run({"http://a.test/"}, {"http://b.test/"});
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(result->end, GateEnd::kRefused);
  EXPECT_TRUE(result->has_comparison());
  EXPECT_THAT(refusals_in(*result), ElementsAre("only A has loads of http://a.test/",
                                                "only B has loads of http://b.test/"));
  EXPECT_EQ(gate->experiment().loads(), 0U);
  EXPECT_FALSE(gate->tell_end(*result));
  EXPECT_TRUE(gate->kept());
  for (auto const* const name : {"a.json", "b.json", "verdict.json"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
  auto const verdict = gate->verdict_json(*result);
  EXPECT_EQ(verdict.at("verdict").as_string(), "refused");
  EXPECT_EQ(verdict.at("gate").at("end").as_string(), "refused");
  EXPECT_EQ(verdict.at("gate").at("looks").to_number<int>(), 0);
}

TEST_F(RefusedGate, HasTwoConditionsOnOneSideForOneOnTheOther) {
  auto const result = run({"http://a.test/", "--protocol", "h1,h2"}, {"http://a.test/"});
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(result->end, GateEnd::kRefused);
  EXPECT_THAT(refusals_in(*result), ElementsAre("A has both h1 and h2 of http://a.test/, so it is "
                                                "unclear which to compare"));
}

TEST_F(RefusedGate, IsNoneWhereTheDifferenceIsAllowed) {
  auto const with_another = run({"http://a.test/"}, {"http://a.test/", "http://b.test/"});
  ASSERT_TRUE(with_another) << with_another.error();
  EXPECT_EQ(with_another->end, GateEnd::kRefused);
  auto const allowed =
      run({"http://a.test/"}, {"http://a.test/", "http://b.test/"}, {Mismatch::kPages});
  ASSERT_FALSE(allowed);
  EXPECT_EQ(allowed.error(), kWouldLoad);
  // That pages may differ does not help where none is in both.
  auto const none = run({"http://a.test/"}, {"http://b.test/"}, {Mismatch::kPages});
  ASSERT_TRUE(none) << none.error();
  EXPECT_THAT(refusals_in(*none), ElementsAre("no page has loads in both A and B"));
}

TEST_F(RefusedGate, IsNoneOfSidesThatDifferInOneCondition) {
  auto const result =
      run({"http://a.test/", "--protocol", "h1"}, {"http://a.test/", "--protocol", "h2"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), kWouldLoad);
}

TEST(GateRunText, SaysWhyMoreLoadsDoNotHelp) {
  ComparedPage page;
  page.a = {.url = "http://a.test/", .conditions = {"firefox", "h2", "none", "cold"}};
  page.b = page.a;
  Comparison comparison;
  comparison.pages.push_back(page);
  EXPECT_EQ(no_value_text(comparison),
            "more loads do not help: no load of http://a.test/ (firefox, h2, link none, cold) has "
            "a value of what is compared");
  page.metrics.push_back(
      {.metric = parse_metrics("lcp").value().front(), .finding = {.of_a = 10, .median_a = 900}});
  comparison.pages.push_back(page);
  EXPECT_THAT(no_value_text(comparison), EndsWith("has a value of what is compared; and 1 more"));
}

TEST(GateRunText, AdvisesToSkipTheNoiseCheckOnlyWhereItRan) {
  EXPECT_THAT(no_look_text(true, std::nullopt), EndsWith("; or use --skip-noise-check"));
  EXPECT_THAT(no_look_text(false, std::nullopt), EndsWith("Use a longer --budget"));
  auto const known = no_look_text(false, std::chrono::seconds(90));
  EXPECT_THAT(known, HasSubstr("take about 90 s"));
  EXPECT_THAT(known, Not(HasSubstr("--skip-noise-check")));
}

TEST(GateRunText, NamesWhatDisturbedTheRunsItsLargestFiguresAndTheWayOut) {
  GateResult result{.end = GateEnd::kDisturbed};
  auto const* const quota = "a processor quota stopped the load for N ms";
  auto const* const others = "other programs used N % of the processors";
  result.skipped = {{quota, 5}, {others, 1}};
  result.largest = {{quota, "a processor quota stopped the load for 1204 ms"},
                    {others, "other programs used 84 % of the processors"}};
  auto const text = disturbed_text(result, 8);
  EXPECT_THAT(text, HasSubstr("undecided, since the machine disturbs the loads: 6 of 8 runs did "
                              "not count. 5 runs: a processor quota stopped the load for 1204 ms "
                              "(the largest figure); 1 run: other programs used 84 % of the "
                              "processors. Give the container"));
  EXPECT_THAT(text, HasSubstr("'quota'"));
  EXPECT_THAT(text, HasSubstr("'priority'"));
  EXPECT_THAT(text, Not(HasSubstr("Wait until")));
}

}  // namespace
}  // namespace reprise
