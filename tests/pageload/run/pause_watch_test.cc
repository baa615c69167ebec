#include "pageload/run/pause_watch.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using namespace std::chrono_literals;

constexpr auto kInterval = 20ms;

TEST(PauseWatch, FindsATimeInWhichNobodyLooked) {
  PauseWatch watch(kInterval);
  watch.look(1000ms, 0ms);
  watch.look(1020ms, 0ms);
  watch.look(1190ms, 0ms);
  watch.look(1210ms, 0ms);
  EXPECT_EQ(watch.between(0ms, 5000ms), 150ms);
}

TEST(PauseWatch, LeavesOutWhatWasWaitingForAProcessor) {
  PauseWatch watch(kInterval);
  watch.look(1000ms, 500ms);
  watch.look(1400ms, 860ms);
  EXPECT_EQ(watch.between(0ms, 5000ms), 0ms);
  watch.look(1800ms, 960ms);
  EXPECT_EQ(watch.between(0ms, 5000ms), 280ms);
}

TEST(PauseWatch, KnowsNothingWithoutTheTimeThatItWaited) {
  PauseWatch watch(kInterval);
  watch.look(1000ms, std::nullopt);
  watch.look(2000ms, 0ms);
  watch.look(3000ms, std::nullopt);
  EXPECT_EQ(watch.between(0ms, 5000ms), 0ms);
}

TEST(PauseWatch, LeavesOutShortOnes) {
  PauseWatch watch(kInterval);
  watch.look(1000ms, 0ms);
  watch.look(1119ms, 0ms);
  EXPECT_EQ(watch.between(0ms, 5000ms), 0ms);
  watch.look(1239ms, 0ms);
  EXPECT_EQ(watch.between(0ms, 5000ms), 100ms);
}

TEST(PauseWatch, CountsWhatLiesBetweenTwoMoments) {
  PauseWatch watch(kInterval);
  watch.look(1000ms, 0ms);
  watch.look(1320ms, 0ms);
  watch.look(1340ms, 0ms);
  watch.look(1560ms, 0ms);
  EXPECT_EQ(watch.between(0ms, 1000ms), 0ms);
  EXPECT_EQ(watch.between(1320ms, 1340ms), 0ms);
  EXPECT_EQ(watch.between(1300ms, 5000ms), 20ms + 200ms);
  EXPECT_EQ(watch.between(0ms, 5000ms), 300ms + 200ms);
}

TEST(PauseWatch, TimeThatThisThreadWaitedOnlyGrows) {
  auto const first = own_waiting_time();
  if (!first) GTEST_SKIP() << "this kernel does not tell";
  EXPECT_GE(*own_waiting_time(), *first);
}

}  // namespace
}  // namespace reprise
