#include "analysis/effects/effects.h"

#include <gtest/gtest.h>

#include <cmath>

namespace reprise {
namespace {

const std::vector<CausePart> kTwo{{0}, {1}};

TEST(Effects, AreExactWithoutNoise) {
  std::vector<EffectRow> const rows{{.in = {false, false}, .value = 100},
                                    {.in = {true, false}, .value = 130},
                                    {.in = {false, true}, .value = 95},
                                    {.in = {true, true}, .value = 125},
                                    {.in = {true, true}, .is_b = true, .value = 132}};
  auto const effects = estimate_effects(rows, kTwo, 0.05);
  ASSERT_TRUE(effects);
  EXPECT_NEAR(effects->base, 100, 1e-9);
  EXPECT_NEAR(effects->parts[0].estimate, 30, 1e-9);
  EXPECT_NEAR(effects->parts[1].estimate, -5, 1e-9);
  EXPECT_NEAR(effects->unexplained.estimate, 7, 1e-9);
  EXPECT_NEAR(effects->total.estimate, 32, 1e-9);
}

TEST(Effects, InteractionsAreExactWithoutNoise) {
  std::vector<EffectRow> rows;
  for (int i = 0; i < 16; ++i) {
    bool const a = i % 2 != 0;
    bool const b = i % 4 > 1;
    bool const c = i % 8 > 3;
    // The slower of a and b counts; c costs what it costs.
    double const value = 100 + std::max(a ? 30. : 0, b ? 20. : 0) + (c ? 7 : 0);
    rows.push_back({.in = {a, b, c}, .value = value});
  }
  rows.push_back({.in = {true, true, true}, .is_b = true, .value = 140});
  std::vector<CausePart> const three{{0}, {1}, {2}};
  auto const effects = estimate_effects(rows, three, 0.05, std::vector<std::size_t>{0, 1, 2});
  ASSERT_TRUE(effects);
  auto const& pairs = effects->pairs;
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].first, 0u);
  EXPECT_EQ(pairs[0].second, 1u);
  EXPECT_NEAR(pairs[0].effect.estimate, -20, 1e-9);
  EXPECT_NEAR(pairs[1].effect.estimate, 0, 1e-9);
  EXPECT_NEAR(pairs[2].effect.estimate, 0, 1e-9);
  // The mean of 30 and 10, of 20 and 0.
  EXPECT_NEAR(effects->parts[0].estimate, 20, 1e-9);
  EXPECT_NEAR(effects->parts[1].estimate, 10, 1e-9);
  EXPECT_NEAR(effects->parts[2].estimate, 7, 1e-9);
  EXPECT_NEAR(effects->unexplained.estimate, 3, 1e-9);
  EXPECT_NEAR(effects->total.estimate, 40, 1e-9);
  EXPECT_TRUE(estimate_effects(rows, three, 0.05, std::vector<std::size_t>{1})->pairs.empty());
  // Five loads are enough for four unknowns, and not for five.
  auto const five = std::span(rows).last(5);
  EXPECT_TRUE(estimate_effects(five, kTwo, 0.05));
  EXPECT_FALSE(estimate_effects(five, kTwo, 0.05, std::vector<std::size_t>{0, 1}));
}

// scipy.stats: t.ppf(0.975, 5), t.ppf(0.995, 30).
TEST(Effects, StudentsQuantilesAreThoseOfScipy) {
  EXPECT_NEAR(student_quantile(0.05, 5), 2.5705818356, 1e-9);
  EXPECT_NEAR(student_quantile(0.01, 30), 2.7499956536, 1e-9);
}

// numpy.linalg.lstsq and scipy.stats.t for y = (10, 13, 12, 17, 15, 11, 18), one part, no B-row
// but the last two: intervals at 1 - 0.06 / 3.
TEST(Effects, IntervalsAreTheTextbooks) {
  std::vector<EffectRow> const rows{{.in = {false}, .value = 10},
                                    {.in = {false}, .value = 12},
                                    {.in = {false}, .value = 11},
                                    {.in = {true}, .value = 13},
                                    {.in = {true}, .value = 17},
                                    {.in = {true}, .is_b = true, .value = 15},
                                    {.in = {true}, .is_b = true, .value = 18}};
  auto const effects = estimate_effects(rows, std::vector<CausePart>{{0}}, 0.06);
  ASSERT_TRUE(effects);
  // Means 11, 15 and 16.5; squares about them 2 + 8 + 4.5 in 4 degrees of freedom.
  auto const deviation = std::sqrt(14.5 / 4);
  auto const quantile = student_quantile(0.02, 4);
  EXPECT_NEAR(effects->deviation, deviation, 1e-9);
  EXPECT_NEAR(effects->parts[0].estimate, 4, 1e-9);
  EXPECT_NEAR(effects->parts[0].high - 4, quantile * deviation * std::sqrt(1. / 3 + 1. / 2), 1e-9);
  EXPECT_NEAR(effects->unexplained.estimate, 1.5, 1e-9);
  EXPECT_NEAR(effects->unexplained.low, 1.5 - quantile * deviation, 1e-9);
  EXPECT_NEAR(effects->total.estimate, 5.5, 1e-9);
  EXPECT_NEAR(effects->total.high - 5.5, quantile * deviation * std::sqrt(1. / 3 + 1. / 2), 1e-9);
}

TEST(Effects, AreRefusedWhereRowsCannotTellThemApart) {
  std::vector<EffectRow> const rows{{.in = {false, false}, .value = 1},
                                    {.in = {true, true}, .value = 2},
                                    {.in = {false, false}, .value = 1},
                                    {.in = {true, true}, .value = 2},
                                    {.in = {true, true}, .is_b = true, .value = 2}};
  EXPECT_FALSE(estimate_effects(rows, kTwo, 0.05));
  EXPECT_TRUE(estimate_effects(rows, std::vector<CausePart>{{0, 1}}, 0.05));
  EXPECT_FALSE(estimate_effects(std::span(rows).first(3), std::vector<CausePart>{{0, 1}}, 0.05));
}

}  // namespace
}  // namespace reprise
