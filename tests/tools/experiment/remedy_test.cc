#include "tools/experiment/remedy.h"

#include <gmock/gmock.h>

#include "analysis/disturbance.h"
#include "base/system/thread_priority.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto kWait = "Wait until the machine is quieter";

/// Of the only disturbance in such a load.
std::string remedy_of(const MachineActivity& machine) {
  PageLoad page;
  page.machine = machine;
  for (const Disturbance& each : disturbances_of(page, nullptr)) {
    if (each.cost_ms > 0) return remedy_text(each.text);
  }
  return "none is disturbed";
}

TEST(Remedy, IsOfTheKindOfDisturbance) {
  EXPECT_THAT(remedy_of({.span_ms = 1000, .busy_ms = 900, .own_ms = 900, .steal_ms = 300}),
              HasSubstr("'awake'"));
  EXPECT_THAT(remedy_of({.span_ms = 1000, .suspended_ms = 5000}), HasSubstr("systemd-inhibit"));
  EXPECT_THAT(remedy_of({.span_ms = 1000, .clock_step_ms = -3000}), HasSubstr("time service"));
  EXPECT_THAT(remedy_of({.span_ms = 1000, .stopped = true}), HasSubstr("SIGSTOP"));
  EXPECT_THAT(remedy_of({.span_ms = 1000, .processors = 2, .busy_ms = 1900, .own_ms = 200}),
              HasSubstr("'priority'"));
  ReplaySummary replay;
  replay.link.emplace().lateness_cost_ms = 40;
  EXPECT_THAT(remedy_text(disturbances_of({}, &replay).front().text), HasSubstr("real-time"));
}

TEST(Remedy, OfProgramsThatUseUpTheQuotaIsNoPriority) {
  auto const text =
      remedy_of({.span_ms = 1000, .processors = 8, .own_ms = 500, .quota = 2, .quota_ms = 1500});
  EXPECT_THAT(text, HasSubstr("larger processor quota"));
  EXPECT_THAT(text, Not(HasSubstr("'priority'")));
  EXPECT_EQ(text, remedy_text("other programs used N % of the processor quota (N)"));
}

TEST(Remedy, OfProgramsOfOtherGroupsIsProcessorsOfItsOwn) {
  EXPECT_THAT(remedy_of({.span_ms = 1000,
                         .processors = 2,
                         .busy_ms = 1900,
                         .own_ms = 200,
                         .own_nice = kFavouredNice,
                         .group_ms = 300}),
              HasSubstr("--cpuset-cpus"));
}

TEST(Remedy, OfAQuotaIsNotToWait) {
  for (auto const* const reason : {"a processor quota stopped the load for 812 ms",
                                   "a processor quota stopped the load for N ms"}) {
    EXPECT_THAT(remedy_text(reason), HasSubstr("larger processor quota")) << reason;
    EXPECT_THAT(remedy_text(reason), Not(HasSubstr("Wait until"))) << reason;
  }
}

TEST(Remedy, OfWhatIsNotKnownIsToWait) {
  EXPECT_EQ(remedy_text("down: 1 packet was lost outside"), kWait);
}

}  // namespace
}  // namespace reprise
