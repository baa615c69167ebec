#include "pageload/browser/page_times.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

PageLoad loaded_at(std::optional<double> load_event_ms) {
  PageLoad load;
  load.load_event_ms = load_event_ms;
  return load;
}

void add(PageLoad& load, double end_ms, const char* type = "Image", const char* failure = "") {
  load.requests.push_back({.url = "http://a.test/",
                           .method = "GET",
                           .resource_type = type,
                           .failure = failure,
                           .end_ms = end_ms});
}

TEST(LastLoadTime, IsTheLoadEventWhereNothingComesLater) {
  auto load = loaded_at(500);
  add(load, 100);
  add(load, -1);
  EXPECT_EQ(last_load_ms(load), 500);
}

TEST(LastLoadTime, MovesOnAsLongAsNoGapIsLongerThanTwoSeconds) {
  auto load = loaded_at(500);
  add(load, 4400);
  add(load, 2500);
  EXPECT_EQ(last_load_ms(load), 4400);
  add(load, 6401);
  EXPECT_EQ(last_load_ms(load), 4400);
}

TEST(LastLoadTime, CountsOnlyWhatHasALoadEvent) {
  auto load = loaded_at(500);
  add(load, 600, "Preflight");
  add(load, 700, "Ping");
  add(load, 800, "WebSocket");
  add(load, 900, "EventSource");
  add(load, 1000, "Image", "net::ERR_FAILED");
  EXPECT_EQ(last_load_ms(load), 500);
}

TEST(LastLoadTime, IsNoneWithoutALoadEvent) {
  auto load = loaded_at(std::nullopt);
  add(load, 100);
  EXPECT_EQ(last_load_ms(load), std::nullopt);
}

TEST(CumulativeLayoutShift, IsTheWorstWindow) {
  EXPECT_EQ(cumulative_layout_shift({}), 0);
  std::vector<LayoutShift> shifts{{1, 0.5}, {1.75, 0.25}, {2.75, 0.125}, {3.5, 0.375}};
  EXPECT_EQ(cumulative_layout_shift(shifts), 0.75) << "a second of rest ends a window";
  shifts.push_back({4.25, 0.5});
  EXPECT_EQ(cumulative_layout_shift(shifts), 1);
}

TEST(CumulativeLayoutShift, EndsAWindowAfterFiveSeconds) {
  std::vector<LayoutShift> shifts;
  for (int i = 0; i < 20; ++i) shifts.push_back({i * 0.5, 0.0625});
  EXPECT_EQ(cumulative_layout_shift(shifts), 0.625);
}

}  // namespace
}  // namespace reprise
