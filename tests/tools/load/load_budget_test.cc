#include "tools/load/load_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace reprise {
namespace {

using testing::Eq;
using testing::IsEmpty;
using testing::Optional;

/// Loads of a cell of this deviation that take so long.
void add_pilot(LoadBudget& budget, std::size_t cell, double deviation_ms, double seconds) {
  budget.add(cell, seconds, std::nullopt);  // the warm-up
  for (int i = 0; i < 2; ++i) {
    for (int const sign : {-1, 1}) budget.add(cell, seconds, 1000 + sign * deviation_ms);
  }
}

std::map<std::size_t, std::size_t> loads_by_cell(const std::vector<PlannedLoad>& plan) {
  std::map<std::size_t, std::size_t> loads;
  for (const PlannedLoad& load : plan) ++loads[load.cell];
  return loads;
}

TEST(Budget, IsATimeWithItsUnit) {
  EXPECT_THAT(parse_budget("90s"), Optional(Eq(std::chrono::seconds(90))));
  EXPECT_THAT(parse_budget("20m"), Optional(Eq(std::chrono::minutes(20))));
  EXPECT_THAT(parse_budget("1h"), Optional(Eq(std::chrono::hours(1))));
  for (auto const* const wrong : {"", "20", "m", "20 m", "20mm", "-1m", "+1m", "1d", "1000000h"}) {
    EXPECT_FALSE(parse_budget(wrong)) << wrong;
  }
}

// As in the issue that WebPerf states: s=(8,1), t=(1,1), T=20 gives (16,4), of which 4 were made.
TEST(LoadBudget, SpendsTheRestByTheOptimum) {
  LoadBudget budget(2);
  add_pilot(budget, 0, 8, 1);
  add_pilot(budget, 1, 1, 1);
  auto const plan = budget.rest(12, 6, 1);
  EXPECT_THAT(loads_by_cell(plan), Eq(std::map<std::size_t, std::size_t>{{0, 12}}));
  EXPECT_EQ(plan.front().run, 6);
  EXPECT_EQ(plan.back().run, 17);
  for (const PlannedLoad& load : plan) EXPECT_FALSE(load.warm_up);
}

TEST(LoadBudget, EachRoundHasAllCellsThatGetMore) {
  LoadBudget budget(3);
  add_pilot(budget, 0, 10, 1);
  add_pilot(budget, 1, 10, 2);
  add_pilot(budget, 2, 0, 1);
  auto const plan = budget.rest(60, 6, 1);
  auto const loads = loads_by_cell(plan);
  EXPECT_EQ(loads.count(2), 0);
  EXPECT_GT(loads.at(0), loads.at(1));
  EXPECT_LE(static_cast<double>(loads.at(0)) + 2.0 * static_cast<double>(loads.at(1)), 60);
  EXPECT_GT(static_cast<double>(loads.at(0)) + 2.0 * static_cast<double>(loads.at(1)), 57);
  // At no time has the one been loaded much more often than its share.
  std::map<std::size_t, std::size_t> so_far;
  for (const PlannedLoad& load : plan) {
    ++so_far[load.cell];
    EXPECT_LE(so_far[0], 2 * so_far[1] + 4);
  }
}

TEST(LoadBudget, GivesNothingToWhatCannotBeKnown) {
  LoadBudget budget(2);
  add_pilot(budget, 0, 8, 1);
  for (int i = 0; i < 5; ++i) budget.add(1, 1, std::nullopt);  // never loaded
  EXPECT_THAT(loads_by_cell(budget.rest(10, 6, 1)),
              Eq(std::map<std::size_t, std::size_t>{{0, 10}}));
  EXPECT_FALSE(budget.standard_errors());
  EXPECT_THAT(budget.rest(0, 6, 1), IsEmpty());
  EXPECT_THAT(LoadBudget(2).rest(10, 1, 1), IsEmpty());
}

TEST(LoadBudget, SaysWhyItPaysForNoMore) {
  LoadBudget failed(2);
  for (int i = 0; i < 10; ++i) failed.add(i % 2 == 0 ? 0 : 1, 1, std::nullopt);
  EXPECT_THAT(failed.rest(10, 6, 1), IsEmpty());
  EXPECT_EQ(failed.why_none(10), NoMoreLoads::kNothingKnown);
  failed.add(0, 1, 1000);
  EXPECT_THAT(failed.rest(10, 6, 1), IsEmpty());
  EXPECT_EQ(failed.why_none(10), NoMoreLoads::kNothingKnown);

  LoadBudget alike(2);
  add_pilot(alike, 0, 0, 1);
  for (int i = 0; i < 5; ++i) alike.add(1, 1, std::nullopt);
  EXPECT_THAT(alike.rest(10, 6, 1), IsEmpty());
  EXPECT_EQ(alike.why_none(10), NoMoreLoads::kAllAlike);

  LoadBudget slow(2);
  add_pilot(slow, 0, 0, 1);
  add_pilot(slow, 1, 8, 20);
  EXPECT_THAT(slow.rest(19, 6, 1), IsEmpty());
  EXPECT_EQ(slow.why_none(19), NoMoreLoads::kTooLong);
  EXPECT_EQ(slow.rest(21, 6, 1).size(), 1);
  EXPECT_THAT(slow.rest(0.5, 6, 1), IsEmpty());
  EXPECT_EQ(slow.why_none(0.5), NoMoreLoads::kTimeIsUp);
}

TEST(LoadBudget, TellsWhatAnEvenSplitWouldHaveComeTo) {
  LoadBudget budget(2);
  add_pilot(budget, 0, 8, 1);
  add_pilot(budget, 1, 1, 1);
  for (int i = 0; i < 6; ++i) {
    for (int const sign : {-1, 1}) budget.add(0, 1, 1000 + sign * 8);
  }
  auto const errors = budget.standard_errors();
  ASSERT_TRUE(errors);
  // 16 and 4 loads against 10 and 10.
  EXPECT_NEAR(errors->allotted, 8 / 3.87 + 1 / 1.73, .05);
  EXPECT_NEAR(errors->even, 8 / 3.06 + 1 / 2.74, .1);
}

TEST(LoadBudget, SplitsAllOfTheTimeEvenly) {
  LoadBudget budget(2);
  add_pilot(budget, 0, 8, 1);
  add_pilot(budget, 1, 8, 1);
  auto const same = budget.standard_errors();
  ASSERT_TRUE(same);
  EXPECT_DOUBLE_EQ(same->even, same->allotted);
  // The cell that varies less has one load more, which is worse than an even split of the time. In
  // whole rounds, the time of that load would be lost, and the even split would seem to be worse.
  budget.add(1, 1, 1000);
  auto const one_more = budget.standard_errors();
  ASSERT_TRUE(one_more);
  EXPECT_LT(one_more->even, one_more->allotted);
}

}  // namespace
}  // namespace reprise
