#include "analysis/verdict.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "analysis/stopping.h"
#include "tests/rounds.h"

using namespace reprise;
using testing::ElementsAre;

namespace {

double whole(double alpha) {
  return alpha;
}

std::vector<double> count_up(double from, std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(from + static_cast<double>(i));
  return out;
}

Finding judge_one(Samples samples) {
  return judge(std::vector{std::move(samples)}, 0.05, whole).front();
}

}  // namespace

TEST(Judge, CallsAClearShiftDifferent) {
  auto const finding =
      judge_one({.a = count_up(1000, 10), .b = count_up(1030, 10), .least = {.relative = 0.01}});
  EXPECT_EQ(finding.verdict, Verdict::kDifferent);
  EXPECT_EQ(finding.shift.estimate, 30);
  EXPECT_NEAR(finding.minimum_effect, 10.045, 1e-9);
}

TEST(Judge, CallsASmallShiftSameHoweverSignificant) {
  auto const finding =
      judge_one({.a = count_up(1000, 10), .b = count_up(1012, 10), .least = {.absolute = 20}});
  EXPECT_LT(finding.rank.p, 0.001);
  EXPECT_EQ(finding.verdict, Verdict::kSame);
}

TEST(Judge, IsUndecidedWhereTheIntervalGoesBeyondTheMinimumEffect) {
  auto const finding =
      judge_one({.a = count_up(1000, 10), .b = count_up(1001, 10), .least = {.absolute = 2}});
  EXPECT_EQ(finding.verdict, Verdict::kUndecided);
  EXPECT_EQ(judge_one({.a = {1, 2}, .b = {9, 10}}).verdict, Verdict::kUndecided);
  EXPECT_EQ(judge_one({.a = {1, 2}, .b = {}}).verdict, Verdict::kUndecided);
}

TEST(Judge, ComparesNothingWhereNoBlockHasBothSides) {
  std::vector<Block> const apart{{.a = {1, 2}, .b = {}}, {.a = {}, .b = {9, 10}}};
  auto const finding = judge_one({.a = {1, 2}, .b = {9, 10}, .blocks = apart});
  EXPECT_FALSE(finding.is_compared());
  EXPECT_EQ(finding.verdict, Verdict::kUndecided);
  std::vector<Block> const shared{{.a = {1, 2}, .b = {9}}, {.a = {}, .b = {10}}};
  EXPECT_EQ(judge_one({.a = {1, 2}, .b = {9, 10}, .blocks = shared}).pairs, 2U);
  EXPECT_EQ(judge_one({.a = {1, 2}, .b = {9, 10}}).pairs, 4U);
  EXPECT_FALSE(judge_one({.a = {1, 2}, .b = {}}).is_compared());
}

TEST(Judge, KnowsConstants) {
  EXPECT_EQ(judge_one({.a = std::vector(6, 30.0), .b = std::vector(6, 30.0)}).verdict,
            Verdict::kSame);
  EXPECT_EQ(judge_one({.a = std::vector(6, 30.0), .b = std::vector(6, 31.0)}).verdict,
            Verdict::kDifferent);
}

TEST(Judge, SharesAlphaAmongTheMetricsByHolm) {
  // p = 0.0079 (10 orders of 5 and 5), 0.0079, 0.32: at alpha 0.02 the first two need 0.0067.
  Samples const apart{.a = count_up(0, 5), .b = count_up(10, 5)};
  Samples const mixed{.a = {1, 3, 5, 7, 9}, .b = {2, 4, 6, 8, 10}};
  std::vector const metrics{apart, mixed, apart};
  EXPECT_NE(judge(metrics, 0.02, whole)[0].verdict, Verdict::kDifferent);
  auto const findings = judge(metrics, 0.05, whole);
  EXPECT_EQ(findings[0].verdict, Verdict::kDifferent);
  EXPECT_NE(findings[1].verdict, Verdict::kDifferent);
  EXPECT_EQ(findings[2].verdict, Verdict::kDifferent);
  EXPECT_DOUBLE_EQ(findings[0].holm_p, 3 * 2.0 / 252);
  EXPECT_EQ(verdict_of(findings), Verdict::kDifferent);
}

TEST(Judge, LetsTheLaterMetricsHaveWhatTheFoundOnesLeave) {
  // The second needs what is left once the first is found: 0.05 / 1, not 0.05 / 2.
  Samples const clear{.a = count_up(0, 10), .b = count_up(20, 10)};
  Samples const less{.a = count_up(0, 4), .b = count_up(10, 4)};  // p = 2/70
  EXPECT_EQ(judge(std::vector{less, less}, 0.05, whole)[0].verdict, Verdict::kUndecided);
  EXPECT_EQ(judge(std::vector{less, clear}, 0.05, whole)[0].verdict, Verdict::kDifferent);
}

TEST(MinimumEffect, IsTheLargerOfItsShareOfTheMedianAndItsAbsoluteValue) {
  MinimumEffect const least{.relative = 0.01, .absolute = 2};
  EXPECT_DOUBLE_EQ(least.of(1000), 10);
  EXPECT_DOUBLE_EQ(least.of(100), 2);
  EXPECT_DOUBLE_EQ(least.of(-1000), 10);
}

TEST(LeastLoads, AreThoseWithWhichSeparateSidesReachTheLevel) {
  EXPECT_EQ(least_loads(0.05), 4u);      // 2/70; three have 2/20
  EXPECT_EQ(least_loads(0.05 / 6), 5u);  // 2/252
  EXPECT_EQ(least_loads(0.05 / 8), 6u);  // 2/924
  auto const level = [](std::size_t loads) {
    return judge(std::vector{Samples{.a = count_up(0, loads), .b = count_up(100, loads)}}, 0.05,
                 whole)[0]
        .rank.p;
  };
  for (std::size_t loads = 2; loads < 10; ++loads) {
    EXPECT_EQ(least_loads(level(loads) * (1 + 1e-9)), loads);
  }
}

TEST(LeastLoads, AreEnoughAtALevelThatTheyReachExactly) {
  EXPECT_EQ(least_loads(0.1), 3u);  // 2/20
}

TEST(LeastLoads, AreMoreInBlocks) {
  EXPECT_EQ(least_loads(0.05, 2), 5u);      // 2/72; two twos have 2/36
  EXPECT_EQ(least_loads(0.05 / 6, 2), 7u);  // 2/432; three twos have 2/216
  EXPECT_EQ(least_loads(0.05, 1), 6u);      // 2/64
  EXPECT_EQ(least_loads(0.05, 30), least_loads(0.05));
}

TEST(VerdictOf, IsSameOnlyWhenAllAre) {
  Finding same, different, undecided;
  same.verdict = Verdict::kSame;
  different.verdict = Verdict::kDifferent;
  EXPECT_EQ(verdict_of(std::vector{same, same}), Verdict::kSame);
  EXPECT_EQ(verdict_of(std::vector{same, undecided}), Verdict::kUndecided);
  EXPECT_EQ(verdict_of(std::vector{undecided, different, same}), Verdict::kDifferent);
  EXPECT_EQ(verdict_of({}), Verdict::kUndecided);
}

TEST(Looks, EndAtTheMost) {
  EXPECT_THAT(Looks(5, 30).at(), ElementsAre(5, 10, 15, 20, 25, 30));
  EXPECT_THAT(Looks(5, 12).at(), ElementsAre(5, 10, 12));
  EXPECT_THAT(Looks(5, 3).at(), ElementsAre(3));
  EXPECT_EQ(Looks(1, 1000).at().size(), kLooksMax);
}

TEST(Looks, ThatEndEarlySpendTheRestOfAlpha) {
  Looks planned(5, 30);
  Looks at_once(5, 30);
  at_once.end_with(0, 4);
  EXPECT_THAT(at_once.at(), ElementsAre(4));
  EXPECT_DOUBLE_EQ(at_once.level(0, 0.05), 0.05);

  Looks later(5, 30);
  later.end_with(2, 13);
  EXPECT_THAT(later.at(), ElementsAre(5, 10, 13));
  EXPECT_DOUBLE_EQ(later.level(1, 0.05), planned.level(1, 0.05));
  EXPECT_GT(later.level(2, 0.05), planned.level(2, 0.05));
  EXPECT_LT(later.level(2, 0.05), 0.05);
}

namespace {

using Draw = std::function<double(std::mt19937_64&)>;

/// Of `gates` gates over `metrics` metrics of which nothing differs, how many say different.
double false_alarms(const Draw& draw, std::size_t metrics, int gates, bool spend,
                    Looks looks = Looks(5, 30)) {
  std::mt19937_64 chance(20'261'121);
  int alarms = 0;
  for (int gate = 0; gate < gates; ++gate) {
    std::vector<Samples> samples(metrics);
    for (std::size_t look = 0; look < looks.at().size(); ++look) {
      for (Samples& each : samples) {
        while (each.a.size() < looks.at()[look]) {
          each.a.push_back(draw(chance));
          each.b.push_back(draw(chance));
        }
      }
      auto const level = [&](double alpha) { return spend ? looks.level(look, alpha) : alpha; };
      if (verdict_of(judge(samples, 0.05, level)) == Verdict::kDifferent) {
        ++alarms;
        break;
      }
    }
  }
  return static_cast<double>(alarms) / gates;
}

double smooth(std::mt19937_64& chance) {
  return std::lognormal_distribution(7.0, 0.05)(chance);
}

double rounded(std::mt19937_64& chance) {
  return std::round(std::normal_distribution(100.0, 1.0)(chance));
}

/// Three standard errors above 5 %.
double most(int gates) {
  return 0.05 + 3 * std::sqrt(0.05 * 0.95 / gates);
}

}  // namespace

TEST(StoppingRule, KeepsItsFalseAlarmRate) {
  constexpr int kSmooth = rounds_of(500);
  constexpr int kRounded = rounds_of(100);
  constexpr int kOfFour = rounds_of(150);
  EXPECT_LT(false_alarms(smooth, 1, kSmooth, true), most(kSmooth));
  EXPECT_LT(false_alarms(rounded, 1, kRounded, true), most(kRounded));
  EXPECT_LT(false_alarms(smooth, 4, kOfFour, true), most(kOfFour));
}

TEST(StoppingRule, KeepsItsFalseAlarmRateWhenTheTimeIsUp) {
  constexpr int kGates = rounds_of(150);
  for (std::size_t const loads : {4U, 7U, 13U, 29U}) {
    Looks looks(5, 30);
    looks.end_with((loads - 1) / 5, loads);
    EXPECT_LT(false_alarms(smooth, 1, kGates, true, looks), most(kGates)) << loads;
  }
}

TEST(StoppingRule, IsNeededBecauseLookingInflatesFalseAlarms) {
  EXPECT_GT(false_alarms(smooth, 1, 300, false), most(300));
}
