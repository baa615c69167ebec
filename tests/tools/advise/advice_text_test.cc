#include "tools/advise/advice_text.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Of a kind, with a measured shift in ms.
MeasuredChange change(const std::string& kind, double shift_ms,
                      Verdict verdict = Verdict::kDifferent) {
  MeasuredChange made{.candidates = {{.kind = kind, .what_if = "x: defer", .advice = kind + "!"}},
                      .not_predicted = "nobody knows"};
  ComparedMetric metric;
  metric.finding.shift = {.estimate = shift_ms, .low = shift_ms - 5, .high = shift_ms + 5};
  metric.finding.verdict = verdict;
  metric.finding.of_a = metric.finding.of_b = 9;
  metric.finding.pairs = 81;
  made.comparison.pages.emplace_back().metrics.push_back(std::move(metric));
  return made;
}

std::size_t place(const std::string& text, const std::string& part) {
  auto const found = text.find(part);
  EXPECT_NE(found, std::string::npos) << part << " in\n" << text;
  return found;
}

TEST(AdviceText, NumbersWhatIsAdvisedAndSetsThirdPartiesApart) {
  Advice advice{.changes = {change("slow", 30), change("third party", -900), change("inline", -40),
                            change("lost", -50), change("defer", -60)}};
  advice.changes[3].losses.requests = {"GET https://a.test/x"};
  advice.sort();
  auto const text = advice_text(advice, false);
  EXPECT_LT(place(text, "1. defer!"), place(text, "2. inline!"));
  EXPECT_LT(place(text, "2. inline!"), place(text, "What third parties cost"));
  EXPECT_LT(place(text, "What third parties cost"), place(text, "-  third party!"));
  EXPECT_LT(place(text, "-  third party!"), place(text, "Tried, and not advised"));
  EXPECT_LT(place(text, "Tried, and not advised"), place(text, "-  lost!"));
  EXPECT_LT(place(text, "-  lost!"), place(text, "-  slow!"));
  EXPECT_THAT(text, HasSubstr("the page does less: 1 request is lost: GET https://a.test/x"));
  EXPECT_EQ(advice.changes[3].verdict(), std::string("breaks the page"));
  EXPECT_THAT(text, Not(HasSubstr("No change could be shown")));
  EXPECT_THAT(advice_text(advice, true), HasSubstr("`--what-if 'x: defer'`"));
}

TEST(Advice, IsBestTogetherOrTheFirstThatIsAdvised) {
  Advice advice;
  EXPECT_EQ(advice.best(), nullptr);
  advice.changes = {change("third party", -900), change("slow", 30)};
  EXPECT_EQ(advice.best(), nullptr);
  advice.changes = {change("defer", -60), change("inline", -40)};
  EXPECT_EQ(advice.best(), &advice.changes.front());
  advice.together = change("defer", 20);
  EXPECT_EQ(advice.best(), &advice.changes.front());
  advice.together = change("defer", -100);
  EXPECT_EQ(advice.best(), &*advice.together);
  advice.together = change("defer", -55);
  EXPECT_EQ(advice.best(), &*advice.together) << "they were compared by other loads";
}

TEST(Advice, IsNoneWhenMoreLoadsFail) {
  Advice advice{.changes = {change("defer", -200)}};
  auto& page = advice.changes[0].comparison.pages.front();
  page.failures_differ = true;
  page.a.loads.resize(20);
  page.b.loads.resize(12);
  page.b.failed = 8;
  EXPECT_EQ(advice.changes[0].verdict(), std::string("breaks the page"));
  EXPECT_EQ(advice.best(), nullptr);
  auto text = advice_text(advice, false);
  EXPECT_THAT(text, HasSubstr("No change could be shown to make the page faster"));
  EXPECT_THAT(text, HasSubstr("measured: only B has loads that failed; load event -200.0 ms"));
  page.b.loads.clear();
  page.metrics.front().finding = {.of_a = 20};
  EXPECT_EQ(advice.changes[0].verdict(), std::string("breaks the page"));
  EXPECT_THAT(advice_text(advice, false), HasSubstr("load event: no load of B has it"));
  std::swap(page.a, page.b);
  EXPECT_FALSE(advice.changes[0].fails_more()) << "the page as recorded fails";
}

TEST(AdviceText, LetsNoPageWriteMarkdownOrShellWords) {
  Advice advice{.changes = {change("*b* <i>", -20)}};
  advice.changes[0].candidates[0].what_if = "path=\"/it's`.js\": defer";
  auto const text = advice_text(advice, true);
  EXPECT_THAT(text, HasSubstr(R"(\*b\* &lt;i>!)"));
  EXPECT_THAT(text, HasSubstr(R"(`` --what-if 'path="/it'\''s`.js": defer' ``)"));
  advice.changes[0].candidates.push_back({.what_if = "preload", .advice = "2"});
  EXPECT_THAT(advice_text(advice, false), HasSubstr("s`.js\": defer' --what-if preload\n"));
}

TEST(AdviceText, SaysThatOnlyThirdPartiesCostTime) {
  auto const text = advice_text({.changes = {change("third party", -900)}}, false);
  EXPECT_LT(place(text, "No change could be shown to make the page faster, without what"),
            place(text, "-  third party!"));
}

TEST(AdviceText, SaysOnceWhatIsTrueOfSeveralComparisons) {
  Advice advice{
      .changes = {change("a", 1, Verdict::kUndecided), change("b", 1, Verdict::kUndecided)}};
  advice.changes[0].comparison.remarks = {"the host took 2 %", "1 load failed"};
  advice.changes[1].comparison.remarks = {"the host took 3 %"};
  auto const text = advice_text(advice, false);
  EXPECT_LT(place(text, "note (A: as recorded, B: changed): 1 load failed"), place(text, "-  b!"));
  EXPECT_THAT(text, HasSubstr("In 2 comparisons, here the first one: the host took 2 %\n"));
  EXPECT_THAT(text, Not(HasSubstr("3 %")));
}

TEST(AdviceText, SaysOfNoCombinationMoreThanWasMeasured) {
  Advice advice{.changes = {change("defer", -60), change("inline", -40)},
                .left_out = {{.candidate = {.advice = "inline!"}, .why = "the budget is over"}}};
  EXPECT_THAT(advice_text(advice, false), HasSubstr("not included: inline!: the budget is over"));
  EXPECT_THAT(advice_text(advice, false), Not(HasSubstr("No two together")));
  advice.left_out[0].is_measured = true;
  EXPECT_THAT(advice_text(advice, false), HasSubstr("No two together are faster than the first"));
}

TEST(AdviceText, SaysWhyACombinationIsNotKept) {
  EXPECT_THAT(reason_against(change("both", -60), change("more", 4, Verdict::kUndecided)),
              HasSubstr("with it, load event +4.0 ms"));
  MeasuredChange refused;
  refused.comparison.refusals.push_back({.text = "B has no counted load"});
  EXPECT_EQ(reason_against(change("both", -60), refused), "not compared: B has no counted load");
  auto fewer = change("both", -60);
  fewer.losses.requests = {"GET https://a.test/x"};
  EXPECT_EQ(reason_against(fewer, change("more", -20)), "with it, the page does less");
}

TEST(AdviceText, SaysHowManyLoadsAreLostAndWhy) {
  Advice advice{.changes = {change("a", -20)}};
  EXPECT_THAT(advice_text(advice, false), Not(HasSubstr("count")));
  advice.lost = {.made = 40,
                 .disturbed = {.loads = 2, .first = "the host took *9* ms"},
                 .failed = {.loads = 1, .first = "timed out"}};
  EXPECT_THAT(advice_text(advice, false),
              HasSubstr("\n3 of 40 loads do not count: 2 were disturbed (the first one: the host "
                        "took *9* ms), 1 failed (timed out).\n"));
  EXPECT_THAT(advice_text(advice, true), HasSubstr(R"(took \*9\* ms)"));
}

TEST(AdviceText, SaysAtWhichLevelIntervalsAre) {
  Advice advice{.changes = {change("a", -20)}};
  advice.changes[0].level = .95;
  EXPECT_THAT(advice_text(advice, false), HasSubstr("\nIntervals: 95 %.\n"));
  advice.changes = {change("a", -20), change("b", -10), change("c", -1, Verdict::kUndecided)};
  for (MeasuredChange& each : advice.changes) each.level = 1 - .05 / 6;
  EXPECT_THAT(advice_text(advice, true),
              HasSubstr("Intervals: 99.2 % each (95 % for all 3 changes together).\n"));
  advice.changes[0].level = 1 - .0004;
  advice.changes[1].predicted = PredictedQuantile{.saving_us = 12'000};
  advice.together = change("both", -30);
  EXPECT_THAT(advice_text(advice, false),
              HasSubstr("Intervals: 99.2 % to 99.96 % each (95 % for all 3 changes together), 95 % "
                        "of the combination, 95 % of predictions.\n"));
  advice.changes[1].predicted->interval_reaches_level = false;
  EXPECT_THAT(advice_text(advice, false), HasSubstr("95 % of the combination.\n"));
  MeasuredChange refused;
  refused.candidates = {{.kind = "a", .what_if = "x: defer", .advice = "a!"}};
  refused.comparison.refusals.push_back({.text = "B has no counted load"});
  EXPECT_THAT(advice_text({.changes = {refused}}, false), Not(HasSubstr("Intervals")));
}

TEST(AdviceText, NamesWhatIsBeyondTheNumberOfCandidates) {
  Advice advice{.changes = {change("a", -20)},
                .not_tried = {{.candidate = {.advice = "seventh!"},
                               .predicted = PredictedQuantile{.saving_us = 300'000},
                               .why = "it promises less"}},
                .beyond = BeyondCandidates{
                    .changes = 2, .best_saving_us = 300'000, .candidates = 6, .enough = 8}};
  auto const text = advice_text(advice, false);
  EXPECT_THAT(text, HasSubstr("-  seventh!\n   predicted: saves 300.0 ms"));
  EXPECT_THAT(text, HasSubstr("\n2 more changes could help (the best one is predicted to save "
                              "300.0 ms); --candidates 8 tries all.\n"));
  advice.budget_for_all = std::chrono::minutes(7);
  EXPECT_THAT(advice_text(advice, false),
              HasSubstr("too short for the first 6 changes that could help; --budget 7m"));
  advice.beyond = BeyondCandidates{.changes = 1, .candidates = 100, .enough = 100};
  EXPECT_THAT(advice_text(advice, false), HasSubstr("\n1 more change could help.\n"));
  advice.beyond =
      BeyondCandidates{.changes = 30, .best_saving_us = -10, .candidates = 80, .enough = 100};
  EXPECT_THAT(advice_text(advice, false),
              HasSubstr("\n30 more changes could help; --candidates 100 tries more of them.\n"));
}

TEST(Advice, IsUndecidedWhereMoreLoadsCouldShowThatAChangeHelps) {
  EXPECT_TRUE(change("a", -20, Verdict::kUndecided).is_undecided());
  EXPECT_FALSE(change("a", -20, Verdict::kDifferent).is_undecided());
  EXPECT_FALSE(change("a", -20, Verdict::kSame).is_undecided());
  auto fewer = change("a", -20, Verdict::kUndecided);
  fewer.losses.requests = {"GET https://a.test/x"};
  EXPECT_FALSE(fewer.is_undecided());
  MeasuredChange refused;
  refused.comparison.refusals.push_back({.text = "B has no counted load"});
  EXPECT_FALSE(refused.is_undecided());
}

TEST(AdviceText, SaysWhichBudgetIsEnough) {
  Advice advice{.changes = {change("a", -20, Verdict::kUndecided)},
                .budget_to_decide = std::chrono::minutes(24)};
  EXPECT_THAT(advice_text(advice, false), HasSubstr("about --budget 24m should decide"));
  advice.budget_for_all = std::chrono::minutes(7);
  EXPECT_THAT(advice_text(advice, false), HasSubstr("--budget 7m is enough"));
  EXPECT_THAT(advice_text(advice, false), Not(HasSubstr("should decide")));
}

}  // namespace
}  // namespace reprise
