#include "tools/machine/quiet_checks.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::HasSubstr;

TEST(QuietChecks, PriorityIsThatOfLinksAndBrowsers) {
  auto const good = priority_check(Priority::kRealtime, kFavouredNice, false);
  EXPECT_TRUE(good.ok);
  EXPECT_FALSE(good.needed);
  EXPECT_EQ(good.detail, "links and replays get real-time priority, browsers nice -19");
  EXPECT_EQ(good.fix, "");
  EXPECT_THAT(priority_check(Priority::kRealtime, kFavouredNice, true).detail,
              HasSubstr("control group"));
  for (auto const& bad : {priority_check(Priority::kShortSlice, std::nullopt, false),
                          priority_check(Priority::kOrdinary, -5, false),
                          priority_check(Priority::kRealtime, std::nullopt, false)}) {
    EXPECT_FALSE(bad.ok) << bad.detail;
    EXPECT_THAT(bad.detail, HasSubstr("other programs disturb loads"));
    EXPECT_THAT(bad.fix, HasSubstr("CAP_SYS_NICE"));
  }
  EXPECT_THAT(priority_check(Priority::kShortSlice, -5, false).detail,
              HasSubstr("a short time slice, browsers nice -5"));
}

TEST(QuietChecks, QuotaThatStopsEveryPageIsNamed) {
  EXPECT_TRUE(quota_check(std::nullopt).ok);
  EXPECT_TRUE(quota_check(2).ok);
  auto const half = quota_check(0.5);
  EXPECT_FALSE(half.ok);
  EXPECT_THAT(half.detail, HasSubstr("a quota of 0.5 processors: it stops every page"));
  EXPECT_THAT(half.fix, HasSubstr("give 2 or more: docker run --cpus"));
}

}  // namespace
}  // namespace reprise
