#include "tools/load/load_table.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using namespace std::chrono_literals;

LoadResult::Load load_of(const LoadCell& cell, double load_event_ms, bool warm_up = false) {
  PageLoad page;
  page.url = cell.url;
  page.load_event_ms = load_event_ms;
  page.last_load_ms = load_event_ms + 1;
  if (load_event_ms < 0) page.outcome = LoadOutcome::kTimedOut;
  return {.configuration = cell.configuration, .warm_up = warm_up, .page = std::move(page)};
}

TEST(LoadTable, HasARowForEachConfigurationAndCountsNoWarmUpAndNoFailure) {
  auto const cells = load_cells({.urls = {"http://a.test/"},
                                 .browsers = {"chromium"},
                                 .protocols = {"h1", "h2"},
                                 .links = {"none"},
                                 .caches = {"cold"}});
  LoadResult result;
  result.loads = {load_of(cells[0], 9000, true), load_of(cells[0], 99), load_of(cells[0], 101),
                  load_of(cells[0], -1), load_of(cells[1], 50)};
  result.loads[1].page.misses = 3;
  EXPECT_EQ(load_table(result, cells),
            "page                 loads  failed  load event ms  CV %  last load ms  misses\n"
            "http://a.test/ (h1)      2       1          100.0  1.41         101.0       3\n"
            "http://a.test/ (h2)      1       0           50.0     -          51.0       -\n");
}

TEST(LoadText, IsOneLine) {
  EXPECT_EQ(load_text({.outcome = LoadOutcome::kTimedOut, .failure = "No.", .url = "u"}),
            "timed-out u: No.");
  PageLoad page{.url = "u", .requests = {{.encoded_bytes = 1500}}, .load_event_ms = 12.34};
  sum_up(page);
  EXPECT_EQ(load_text(page), "loaded u: 1 request, 1.5 kB, load event 12.3 ms");
}

TEST(DurationText, IsShort) {
  EXPECT_EQ(duration_text(40s), "40 s");
  EXPECT_EQ(duration_text(12min), "12 min");
  EXPECT_EQ(duration_text(65min + 95min), "2 h 40 min");
}

}  // namespace
}  // namespace reprise
