#include "tools/load/load_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace reprise {
namespace {

using testing::ElementsAre;

TEST(LoadCells, AreAllCombinations) {
  auto const cells = load_cells({.urls = {"u", "v"},
                                 .browsers = {"b"},
                                 .protocols = {"h1", "h2"},
                                 .links = {"none", "wpt:4g"},
                                 .caches = {"cold", "warm"}});
  ASSERT_EQ(cells.size(), 16);
  EXPECT_EQ(cells[0].url, "u");
  EXPECT_EQ(cells[1].configuration.cache, "warm");
  EXPECT_EQ(cells[15].url, "v");
  EXPECT_EQ(cells[15].configuration.link, "wpt:4g");
}

TEST(SplitList, KeepsTheExtrasOfALinkWithIt) {
  EXPECT_THAT(split_list("wpt:4g,none"), ElementsAre("wpt:4g", "none"));
  EXPECT_THAT(split_list("wpt:4g,loss=1%,queue=50,none"),
              ElementsAre("wpt:4g,loss=1%,queue=50", "none"));
  EXPECT_THAT(split_list(""), ElementsAre(""));
}

TEST(PlanLoads, LoadsEachCellOnceARunAndTheFirstRunsAreWarmUps) {
  auto const plan = plan_loads(5, 1, 3, 7);
  ASSERT_EQ(plan.size(), 20);
  for (unsigned run = 1; run <= 4; ++run) {
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < 5; ++i) {
      auto const& load = plan[(run - 1) * 5 + i];
      seen.insert(load.cell);
      EXPECT_EQ(load.run, run);
      EXPECT_EQ(load.warm_up, run == 1);
    }
    EXPECT_EQ(seen.size(), 5);
  }
}

TEST(PlanLoads, PutsEachCellInEachPlaceAboutAsOften) {
  auto const plan = plan_loads(4, 0, 4000, 1);
  int first[4] = {};
  for (std::size_t i = 0; i < plan.size(); i += 4) ++first[plan[i].cell];
  for (int const count : first) EXPECT_NEAR(count, 1000, 120);
}

TEST(PlanLoads, KeepsTheOrderWhereEachIsLoadedOnce) {
  auto const plan = plan_loads(50, 0, 1, 3);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(plan[i].cell, i);
}

TEST(PlanLoads, IsTheSameForTheSameSeedOnly) {
  auto const order = [](std::uint64_t seed) {
    std::vector<std::size_t> cells;
    for (auto const& load : plan_loads(6, 0, 4, seed)) cells.push_back(load.cell);
    return cells;
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

}  // namespace
}  // namespace reprise
