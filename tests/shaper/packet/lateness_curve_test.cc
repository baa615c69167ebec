#include "shaper/packet/lateness_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "tests/test_seed.h"

namespace reprise {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

TEST(LatenessCurve, KeepsLargeSteps) {
  LatenessCurve curve;
  curve.add(10ms, 1ms);
  curve.add(20ms, 3ms);
  ASSERT_EQ(curve.steps().size(), 2U);
  EXPECT_EQ(curve.steps()[0].time, 10ms);
  EXPECT_EQ(curve.steps()[1].cost, 3ms);
  EXPECT_EQ(curve.resolution(), LatenessCurve::kFirstGrowth);
}

TEST(LatenessCurve, PutsSmallGrowthTogether) {
  LatenessCurve curve;
  for (int i = 1; i <= 100; ++i) curve.add(i * 1ms, i * 1us);
  ASSERT_EQ(curve.steps().size(), 2U);
  EXPECT_EQ(curve.steps()[0].time, 50ms);
  EXPECT_EQ(curve.steps()[0].cost, 50us);
  EXPECT_EQ(curve.steps()[1].time, 100ms);
  EXPECT_EQ(curve.steps()[1].cost, 100us);
}

TEST(LatenessCurve, IsAssignedWithoutAllocating) {
  LatenessCurve curve;
  for (int i = 1; i <= 2000; ++i) curve.add(i * 1ms, i * 1ms);
  LatenessCurve copy;
  auto const* const steps = copy.steps().data();
  copy = curve;
  EXPECT_EQ(copy.steps().size(), curve.steps().size());
  EXPECT_EQ(copy.steps().data(), steps);
}

/// The largest cost that the curve allows at `time`, and the least.
std::pair<nanoseconds, nanoseconds> bounds(const LatenessCurve& curve, nanoseconds time) {
  nanoseconds before{0};
  for (const LatenessCurve::Step& step : curve.steps()) {
    if (step.time > time) return {std::min(step.cost, before + curve.resolution()), before};
    before = step.cost;
  }
  return {before, before};
}

TEST(LatenessCurve, BoundsTheCostAtEachTimeHoweverMuchWasMerged) {
  TestSeed const seed;
  std::mt19937_64 chance(seed.value());
  LatenessCurve curve;
  auto const capacity = curve.steps().capacity();
  std::vector<LatenessCurve::Step> all{{.time = 0ns, .cost = 0ns}};
  for (int i = 0; i < 50'000; ++i) {
    auto const last = all.back();
    bool const large = chance() % 50 == 0;
    all.push_back({.time = last.time + nanoseconds(chance() % 1'000'000),
                   .cost = last.cost + nanoseconds(1 + chance() % (large ? 5'000'000 : 80'000))});
    curve.add(all.back().time, all.back().cost);
  }
  EXPECT_LE(curve.steps().size(), LatenessCurve::kStepsMax);
  EXPECT_EQ(curve.steps().capacity(), capacity);  // it allocated nothing
  EXPECT_LT(curve.resolution(), all.back().cost / 200);
  EXPECT_EQ(curve.steps().back().cost, all.back().cost);
  for (std::size_t i = 0; i < all.size(); i += 97) {
    // The last of those at the same time.
    if (i + 1 < all.size() && all[i + 1].time == all[i].time) continue;
    auto const [most, least] = bounds(curve, all[i].time);
    ASSERT_LE(all[i].cost, most) << i;
    ASSERT_GE(all[i].cost, least) << i;
  }
}

}  // namespace
}  // namespace reprise
