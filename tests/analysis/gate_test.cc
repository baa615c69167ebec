#include "analysis/gate.h"

#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <random>
#include <utility>

#include "tests/analysis/result_text.h"

using namespace reprise;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

namespace {

bool never(std::size_t) {
  return false;
}

/// Every ten of these vary by much more than a least effect.
double wide_ms(std::size_t run) {
  return 1000 + 20 * static_cast<double>(run % 10);
}

/// Pages that load in `mean_ms`, with a deviation of 10 ms.
class SimulatedSides {
 public:
  explicit SimulatedSides(double mean_a_ms, double mean_b_ms) : mean_ms_{mean_a_ms, mean_b_ms} {}

  bool load(bool b, std::size_t run) {
    order += b ? 'b' : 'a';
    LoadRow row{.url = b ? url_of_b : "https://a.test/",
                .conditions = {"chromium", "h2", "none", "cold"},
                .warm_up = run == 0,
                .loaded = !(b && fails_in_b(run)),
                .status = b ? status_of_b : 200,
                .requests = {b ? request_of_b : "GET /"},
                .replay = b && run % doubtful_every_b == 1 ? 1 : 0};
    if (b && beacon_in_b(run)) row.requests.emplace_back("GET /beacon");
    // A warm-up is far off: it must not count.
    row.metrics[metric("load")] = run == 0  ? 9999
                                  : load_ms ? load_ms(b, run)
                                            : std::normal_distribution(mean_ms_[b], 10.0)(chance_);
    row.metrics[metric("requests")] = 1;
    if (lcp_ms) row.metrics[metric("lcp")] = lcp_ms(b, run);
    if (bytes_of_b) row.metrics[metric("bytes")] = b ? *bytes_of_b : 1000;
    sides[b].loads.push_back(std::move(row));
    if (has_blank_page) {
      sides[b].loads.push_back({.url = "https://blank.test/",
                                .conditions = {"chromium", "h2", "none", "cold"},
                                .warm_up = run == 0,
                                .loaded = true,
                                .status = 200,
                                .replay = 0});
    }
    return ++loads != interrupt_at;
  }

  GateResult run(GateOptions options = {}) {
    for (Measurements& side : sides) {
      side.replays.resize(2);
      side.replays[1].warnings = {"busy"};
    }
    return run_gate(options, {.load = [&](bool b, std::size_t at) { return load(b, at); },
                              .why_disturbed = [&](std::size_t at) { return why_disturbed(at); },
                              .measured = [&](bool b) { return sides[b]; },
                              .time_left = [&] { return loads / 2 < runs_in_time; },
                              .on_look = [&](auto& look) { looks.push_back(look.runs); }});
  }

  std::string why_disturbed(std::size_t run) {
    if (!disturbed(run)) return {};
    for (Measurements& side : sides) side.loads.back().skipped = "busy";
    return "other programs used " + std::to_string(loads) + ".5 % of the processors";
  }

  /// Asked after both sides were loaded.
  std::function<bool(std::size_t run)> disturbed = never;
  std::string order;
  std::vector<std::size_t> looks;
  std::size_t loads = 0;
  std::size_t interrupt_at = 1'000'000;
  std::size_t runs_in_time = 1'000'000;
  std::size_t doubtful_every_b = 1'000'000;
  std::string url_of_b = "https://a.test/";
  std::string request_of_b = "GET /";
  int status_of_b = 200;
  std::function<bool(std::size_t run)> beacon_in_b = never;
  std::function<bool(std::size_t run)> fails_in_b = never;
  std::function<double(bool b, std::size_t run)> load_ms;  ///< instead of the random one
  std::function<std::optional<double>(bool b, std::size_t run)> lcp_ms;  ///< none: no values
  bool has_blank_page = false;       ///< another one, without a value of anything
  std::optional<double> bytes_of_b;  ///< A sends 1000; no value: not measured
  Measurements sides[2];

 private:
  double mean_ms_[2];
  std::mt19937_64 chance_{7};
};

}  // namespace

TEST(Gate, StopsAtTheLookThatDecides) {
  SimulatedSides slower(1000, 1040);
  auto const result = slower.run();
  EXPECT_EQ(result.end, GateEnd::kDecided);
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kDifferent);
  EXPECT_EQ(result.look.runs, 10U);
  EXPECT_THAT(slower.looks, ElementsAre(5, 10));
  EXPECT_THAT(slower.order, SizeIs(22));  // ten loads a side and a warm-up

  SimulatedSides same(1000, 1000);
  EXPECT_EQ(same.run({.compare = {.least_relative = 0.03}}).look.comparison.verdict,
            Verdict::kSame);
}

TEST(Gate, AskedWhetherBIsSlowerIsNotAnsweredByWhatIsBetter) {
  // B sends less, and its load event is A's for ten runs, then far larger.
  SimulatedSides sides(0, 0);
  sides.bytes_of_b = 700;
  sides.load_ms = [](bool b, std::size_t run) { return wide_ms(run) + (b && run > 10 ? 1000 : 0); };
  auto asked_for_any = sides;
  auto const any = asked_for_any.run();
  EXPECT_EQ(any.end, GateEnd::kDecided);
  EXPECT_EQ(any.look.runs, 10U);
  EXPECT_FALSE(is_worse(any.look.comparison));

  auto const slower = sides.run({.question = GateQuestion::kSlower});
  EXPECT_EQ(slower.end, GateEnd::kDecided);
  EXPECT_GT(slower.look.runs, 10U);
  EXPECT_TRUE(is_worse(slower.look.comparison));
}

TEST(Gate, AskedWhetherBIsSlowerEndsWhereNothingElseIsUndecided) {
  SimulatedSides sides(0, 0);
  sides.bytes_of_b = 700;
  sides.load_ms = [](bool, std::size_t) { return 1000; };
  auto const result = sides.run({.question = GateQuestion::kSlower});
  EXPECT_EQ(result.end, GateEnd::kDecided);
  EXPECT_EQ(result.look.runs, 10U);
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kDifferent);
  EXPECT_FALSE(has_undecided(result.look.comparison));
}

TEST(Gate, TakesOneFailedLoadForChanceAtTheFirstLook) {
  SimulatedSides sides(0, 0);
  sides.load_ms = [](bool, std::size_t run) { return wide_ms(run); };
  sides.fails_in_b = [](std::size_t run) { return run == 1; };
  auto const result = sides.run({.look_every = 1});
  EXPECT_EQ(result.end, GateEnd::kOutOfRuns);
  EXPECT_THAT(sides.looks, SizeIs(30));
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kUndecided);
}

TEST(Gate, FindsAPageThatAlwaysFailsAfterFiveRuns) {
  SimulatedSides sides(1000, 1000);
  sides.fails_in_b = [](std::size_t) { return true; };
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kDecided);
  EXPECT_EQ(result.look.runs, 5U);
  EXPECT_TRUE(result.look.comparison.pages.at(0).failures_differ);
}

TEST(Gate, LoadsBothSidesInEachRunInRandomOrder) {
  SimulatedSides sides(1000, 1000);
  sides.run({.compare = {.least_relative = 0}, .most_runs = 40});
  std::size_t ab = 0;
  for (std::size_t i = 0; i < sides.order.size(); i += 2) {
    EXPECT_NE(sides.order[i], sides.order[i + 1]);
    ab += sides.order[i] == 'a';
  }
  EXPECT_GT(ab, 10U);
  EXPECT_LT(ab, 31U);
  SimulatedSides again(1000, 1000);
  again.run({.compare = {.least_relative = 0}, .most_runs = 40});
  EXPECT_EQ(again.order, sides.order);
}

TEST(Gate, IsUndecidedWhenOutOfRunsOrTime) {
  SimulatedSides sides(1000, 1004);
  auto const result = sides.run({.compare = {.least_relative = 0.001}});
  EXPECT_EQ(result.end, GateEnd::kOutOfRuns);
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kUndecided);
  EXPECT_EQ(result.look.runs, 30U);

  SimulatedSides hurried(0, 0);
  hurried.load_ms = [](bool, std::size_t run) { return wide_ms(run); };
  hurried.runs_in_time = 8;  // with the warm-up
  auto const out_of_time = hurried.run();
  EXPECT_EQ(out_of_time.end, GateEnd::kOutOfTime);
  EXPECT_EQ(out_of_time.look.comparison.verdict, Verdict::kUndecided);
  EXPECT_EQ(out_of_time.look.runs, 7U);
}

TEST(Gate, LooksOnceMoreWhenTheTimeIsUp) {
  SimulatedSides sides(1000, 1040);
  sides.runs_in_time = 5;  // 4 and the warm-up: the first look was planned at 5
  auto const short_of_one = sides.run();
  EXPECT_EQ(short_of_one.look.runs, 4U);
  EXPECT_EQ(short_of_one.look.number, 1U);
  EXPECT_EQ(short_of_one.look.of, 1U);

  SimulatedSides slower(1000, 1040);
  slower.runs_in_time = 10;
  auto const result = slower.run();
  EXPECT_EQ(result.end, GateEnd::kDecided);
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kDifferent);
  EXPECT_THAT(slower.looks, ElementsAre(5, 9));
}

TEST(Gate, DoesNotLookTwiceAtTheSameLoads) {
  SimulatedSides sides(1000, 1004);
  sides.runs_in_time = 6;
  auto const result = sides.run({.compare = {.least_relative = 0.001}});
  EXPECT_EQ(result.end, GateEnd::kOutOfTime);
  EXPECT_THAT(sides.looks, ElementsAre(5));
  EXPECT_EQ(result.look.of, 6U);

  SimulatedSides none(1000, 1004);
  none.runs_in_time = 1;
  EXPECT_EQ(none.run().look.number, 0U);
}

TEST(Gate, DoesNotRefuseByLoadsThatAreTooFewToDecide) {
  SimulatedSides sides(1000, 1040);
  sides.runs_in_time = 4;  // 3 and the warm-up
  sides.beacon_in_b = [](std::size_t) { return true; };
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kOutOfTime);
  EXPECT_EQ(result.look.number, 0U);
}

TEST(Gate, EndsAtTheFirstLookIfNoLoadHasAValue) {
  SimulatedSides sides(1000, 1040);
  auto const result = sides.run({.compare = {.metrics = {metric("lcp")}}});
  EXPECT_EQ(result.end, GateEnd::kNoValue);
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kUndecided);
  EXPECT_EQ(result.look.runs, 5U);
}

TEST(Gate, DoesNotTakeAFewLoadsWithoutAValueForAll) {
  SimulatedSides sides(1000, 1040);
  auto const result = sides.run({.compare = {.metrics = {metric("lcp")}}, .look_every = 2});
  EXPECT_EQ(result.end, GateEnd::kNoValue);
  EXPECT_EQ(result.look.runs, 6U);
}

TEST(Gate, EndsWhenOnlyAPageWithoutAnyValueIsOpen) {
  SimulatedSides sides(0, 0);
  sides.has_blank_page = true;
  sides.load_ms = [](bool, std::size_t) { return 1000; };
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kNoValue);
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kUndecided);
  EXPECT_LE(result.look.runs, 10U);

  // The other page is open, too.
  SimulatedSides wide(0, 0);
  wide.has_blank_page = true;
  wide.load_ms = [](bool, std::size_t run) { return wide_ms(run); };
  EXPECT_EQ(wide.run().end, GateEnd::kOutOfRuns);
}

TEST(Gate, LoadsMoreWhereAPagePaintsNowAndThen) {
  SimulatedSides sides(0, 0);
  sides.lcp_ms = [](bool, std::size_t run) {
    return run % 3 == 0 ? std::optional(1000.0) : std::nullopt;
  };
  auto const result = sides.run({.compare = {.metrics = {metric("lcp")}}});
  EXPECT_EQ(result.end, GateEnd::kDecided);
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kSame);
  EXPECT_GT(result.look.runs, 10U);
}

TEST(Gate, WaitsForTheLoadsOfASideThatAloneHasNoValue) {
  for (std::size_t const first : {100U, 7U}) {
    SimulatedSides sides(0, 0);
    sides.lcp_ms = [&](bool b, std::size_t run) {
      return !b || run >= first ? std::optional(1000.0) : std::nullopt;
    };
    auto const result = sides.run({.compare = {.metrics = {metric("lcp")}}});
    EXPECT_EQ(result.end, first == 7 ? GateEnd::kDecided : GateEnd::kNoValue);
    if (first == 100) {
      EXPECT_EQ(result.look.runs, 10U);
    }
  }
}

TEST(Gate, AskedWhetherBIsSlowerEndsWhereOnlyAMetricWithoutValuesIsOpen) {
  SimulatedSides sides(0, 0);
  sides.bytes_of_b = 700;
  sides.load_ms = [](bool, std::size_t) { return 1000; };
  sides.lcp_ms = [](bool b, std::size_t) { return b ? std::nullopt : std::optional(1000.0); };
  auto const result = sides.run({.question = GateQuestion::kSlower});
  EXPECT_EQ(result.end, GateEnd::kNoValue);
  EXPECT_EQ(result.look.comparison.verdict, Verdict::kDifferent);
  EXPECT_TRUE(has_undecided(result.look.comparison));
  EXPECT_LT(result.look.runs, 30U);
}

TEST(Gate, EndsAtOnceWhenASideCannotBeLoaded) {
  SimulatedSides sides(1000, 1040);
  sides.interrupt_at = 3;
  EXPECT_EQ(sides.run().end, GateEnd::kInterrupted);
  EXPECT_THAT(sides.order, SizeIs(3));
}

TEST(Gate, DoesNotLookWhenARunWasNotWhole) {
  SimulatedSides sides(1000, 1040);
  sides.interrupt_at = 12;  // the second load of the fifth run
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kInterrupted);
  EXPECT_THAT(sides.looks, IsEmpty());
}

TEST(Gate, RefusesAtTheFirstLookWhatCannotBeCompared) {
  SimulatedSides sides(1000, 1000);
  sides.request_of_b = "GET /other";
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kRefused);
  EXPECT_EQ(result.look.runs, 5U);
}

TEST(Gate, RefusesAtTheFirstLookAFasterBThatIsAnErrorPage) {
  SimulatedSides sides(1000, 100);
  sides.status_of_b = 500;
  auto const result = sides.run({.question = GateQuestion::kSlower});
  EXPECT_EQ(result.end, GateEnd::kRefused);
  EXPECT_EQ(result.look.runs, 5U);
}

TEST(Gate, RefusesAtTheFirstLookLinksThatCannotBeCompared) {
  for (auto const& [of_a, of_b] :
       {std::pair{"packet", "stream"},
        {"packet, self-check off (--no-selfcheck)", "packet, self-check off (--no-selfcheck)"}}) {
    SimulatedSides sides(1000, 1040);
    for (int i = 0; i < 2; ++i) {
      sides.sides[0].replays.push_back({.calibration = of_a});
      sides.sides[1].replays.push_back({.calibration = of_b});
    }
    auto const result = sides.run();
    EXPECT_EQ(result.end, GateEnd::kRefused) << of_b;
    EXPECT_EQ(result.look.runs, 5U) << of_b;
  }
}

TEST(Gate, RefusesAtTheFirstLookSidesWithoutACommonPage) {
  SimulatedSides sides(1000, 1040);
  sides.url_of_b = "https://b.test/";
  auto const result = sides.run({.compare = {.allowed = {Mismatch::kPages}}});
  EXPECT_EQ(result.end, GateEnd::kRefused);
  EXPECT_EQ(result.look.runs, 5U);
}

TEST(Gate, LoadsMoreWhereARequestOfSomeLoadsWasMostlyInB) {
  SimulatedSides sides(1000, 1040);
  sides.beacon_in_b = [](std::size_t run) { return run < 5; };  // 4 of the first 5
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kDecided);
  EXPECT_EQ(result.look.runs, 10U);
}

TEST(Gate, WaitsForABusyMomentToPass) {
  SimulatedSides sides(1000, 1040);
  sides.doubtful_every_b = 3;  // 2 of the first 5, always more than a fifth
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kRefused);
  EXPECT_EQ(result.look.runs, 30U);
}

TEST(Gate, RepeatsADisturbedRunWithBothSides) {
  SimulatedSides sides(1000, 1040);
  std::size_t times = 0;
  sides.disturbed = [&](std::size_t run) { return run == 3 && ++times <= 2; };
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kDecided);
  EXPECT_EQ(result.look.runs, 10U);
  EXPECT_THAT(sides.order, SizeIs(26));  // two more runs of both
  auto const* const reason = "other programs used N % of the processors";
  EXPECT_THAT(result.skipped, ElementsAre(Pair(reason, 2U)));
  EXPECT_THAT(result.largest,
              ElementsAre(Pair(reason, "other programs used 10.5 % of the processors")));
  for (const ComparedPage& page : result.look.comparison.pages) {
    EXPECT_THAT(page.a.loads, SizeIs(10));
    EXPECT_EQ(page.a.repeated, 2U);
    EXPECT_EQ(page.b.repeated, 2U);
  }
}

TEST(Gate, GivesUpOnAMachineThatIsAlwaysBusy) {
  SimulatedSides sides(1000, 1040);
  sides.disturbed = [](std::size_t) { return true; };
  auto const result = sides.run();
  EXPECT_EQ(result.end, GateEnd::kDisturbed);
  EXPECT_EQ(result.look.number, 0U);
  EXPECT_THAT(sides.order, SizeIs(2 + 2 * kDisturbedRunsMax));
}

TEST(Gate, HoldsOutWhereEveryOtherRunIsDisturbed) {
  SimulatedSides sides(1000, 1040);
  std::size_t asked = 0;
  sides.disturbed = [&](std::size_t) { return ++asked % 2 == 0; };
  EXPECT_EQ(sides.run().end, GateEnd::kDecided);
}
