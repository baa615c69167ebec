#include "analysis/disturbance.h"

#include <gmock/gmock.h>

#include "analysis/comparison.h"
#include "analysis/load_groups.h"
#include "base/system/thread_priority.h"
#include "tests/analysis/result_text.h"

using namespace reprise;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

PageLoad page_on(const MachineActivity& machine) {
  return {.machine = machine};
}

/// Of a load of one second on two processors.
MachineActivity quiet() {
  return {.span_ms = 1000, .processors = 2, .busy_ms = 900, .own_ms = 850};
}

std::string why(const PageLoad& page, double least_effect_ms = 10) {
  auto const found = disturbed(disturbances_of(page, nullptr), least_effect_ms);
  return found ? found->text : "";
}

std::string why(const MachineActivity& machine) {
  return why(page_on(machine));
}

}  // namespace

TEST(Disturbance, IsNoneOnAQuietMachineOrAnUnknownOne) {
  EXPECT_EQ(why(quiet()), "");
  EXPECT_EQ(why(PageLoad()), "");
}

TEST(Disturbance, ALinkThatMissedItsSettingsIsAReasonToSkip) {
  ReplaySummary replay;
  EXPECT_EQ(reason_to_skip(page_on(quiet()), &replay, 10, 0), "");
  replay.link.emplace().warnings = {"down: 1 packet was lost", "up: the rate is 1 kbit/s"};
  EXPECT_EQ(reason_to_skip(page_on(quiet()), &replay, 10, 0), "down: 1 packet was lost");
  auto machine = quiet();
  machine.stopped = true;
  EXPECT_EQ(reason_to_skip(page_on(machine), &replay, 10, 0),
            "a process of the load was stopped (SIGSTOP)");
  EXPECT_EQ(reason_to_skip(page_on(quiet()), nullptr, 10, 0), "");
}

TEST(Disturbance, CountsAgainstTheTimeOfALoadWhateverIsCompared) {
  auto machine = quiet();
  machine.throttled_ms = 40;
  LoadResult result;
  result.loads.push_back({.page = page_on(machine)});
  auto& page = result.loads.front().page;
  page.load_event_ms = 1000;
  page.encoded_bytes = 5e6;
  // 1 % of a second, not of five million bytes.
  auto counted = counted_loads({.metrics = {metric("bytes")}});
  EXPECT_EQ(reason_to_skip(result, result.loads.front(), counted),
            "a processor quota stopped the load for 40 ms");
  page.load_event_ms = 5000;
  EXPECT_EQ(reason_to_skip(result, result.loads.front(), counted), "");
  page.load_event_ms.reset();  // of how long it lasted, a second
  EXPECT_NE(reason_to_skip(result, result.loads.front(), counted), "");
  counted.doubtful = true;
  EXPECT_EQ(reason_to_skip(result, result.loads.front(), counted), "");
}

TEST(Disturbance, NamesWhatItWas) {
  auto machine = quiet();
  machine.steal_ms = 40;
  EXPECT_EQ(why(machine), "the host took 40 ms of processor time (steal)");
  machine = quiet();
  machine.throttled_ms = 230;
  EXPECT_EQ(why(machine), "a processor quota stopped the load for 230 ms");
  machine = quiet();
  machine.suspended_ms = 3200;
  EXPECT_EQ(why(machine), "the machine slept for 3.2 s");
  machine = quiet();
  machine.clock_step_ms = -3'600'000;
  EXPECT_EQ(why(machine), "the clock was set by -3600.0 s");
  machine = quiet();
  machine.stopped = true;
  EXPECT_EQ(why(machine), "a process of the load was stopped (SIGSTOP)");
  machine = quiet();
  machine.busy_ms = 1950;
  EXPECT_EQ(why(machine), "other programs used 55 % of the 2 processors");
}

TEST(Disturbance, NiceValuesCountInsideTheControlGroupAlone) {
  auto machine = quiet();
  machine.busy_ms = 1950;
  machine.own_nice = kFavouredNice;
  machine.group_ms = 1900;  // a build in the same group waits
  EXPECT_EQ(why(machine), "");
  machine.group_ms = 900;  // one in another group does not
  EXPECT_EQ(why(machine), "other programs used 52 % of the 2 processors");
  machine.group_ms.reset();
  machine.own_nice = -10;  // all that a limit permitted
  EXPECT_EQ(why(machine), "other programs used 55 % of the 2 processors");
}

TEST(Disturbance, OtherProgramsMustLeaveTooFewProcessors) {
  auto machine = quiet();
  machine.processors = 64;
  machine.busy_ms = 850 + 0.15 * 64'000;
  EXPECT_EQ(why(machine), "") << "54 are left";
  machine.busy_ms = 850 + 0.95 * 64'000;
  EXPECT_EQ(why(machine), "other programs used 95 % of the 64 processors");
}

/// Of a load of four seconds on eight processors, under a quota of so many.
MachineActivity under_quota(double processors) {
  MachineActivity machine{.span_ms = 4000, .processors = 8, .busy_ms = 8000, .own_ms = 7800};
  machine.throttled_ms = 9000;
  machine.quota = processors;
  machine.quota_ms = 7900;
  return machine;
}

TEST(Disturbance, AQuotaStopsALoadForAsLongAsItLastedAtMost) {
  EXPECT_EQ(why(under_quota(0.5)),
            "a processor quota stopped the load for 4000 ms (quota: 0.5 processors)");
  EXPECT_EQ(why(under_quota(1)),
            "a processor quota stopped the load for 4000 ms (quota: 1 processor)");
}

TEST(Disturbance, APageThatUsesUpAQuotaOfTwoProcessorsCounts) {
  EXPECT_EQ(why(under_quota(2)), "");
  auto machine = under_quota(2);
  machine.quota_ms.reset();  // the kernel does not tell whose doing it was
  EXPECT_EQ(why(machine), "a processor quota stopped the load for 4000 ms (quota: 2 processors)");
  // The quota stops the link, too.
  auto all = disturbances_of(page_on(under_quota(2)), nullptr);
  all.push_back({.cost_ms = 3990, .text = "late", .by_host = true, .by_quota = true});
  EXPECT_FALSE(disturbed(all, 10));
  all.push_back({.cost_ms = 4020, .text = "later", .by_host = true, .by_quota = true});
  EXPECT_TRUE(disturbed(all, 10));
  machine = under_quota(2);
  machine.own_ms = 6700;
  EXPECT_EQ(why(machine), "other programs used 15 % of the processor quota (2)");
  machine.throttled_ms = 0;  // a light page that the quota did not stop: no less often
  machine.own_ms = 1000;
  machine.quota_ms = 2200;
  EXPECT_EQ(why(machine), "other programs used 15 % of the processor quota (2)");
}

TEST(Disturbance, AQuotaThatOnlyTheHeavierSideUsesUpIsARemarkAndBIsSlower) {
  auto const side = [](double load_ms, double throttled_ms) {
    Measurements all;
    all.replays.resize(1);
    for (int i = 0; i < 8; ++i) {
      LoadRow row{.url = "https://a.test/", .loaded = true, .replay = 0};
      row.metrics[metric("load")] = load_ms + i;
      auto machine = under_quota(2);
      machine.throttled_ms = throttled_ms;
      row.disturbances = disturbances_of(page_on(machine), nullptr);
      all.loads.push_back(row);
    }
    return all;
  };
  CompareOptions const options{.metrics = {metric("load")}};
  auto const compared = compare(side(4000, 0), side(5000, 1500), options);
  EXPECT_THAT(compared.refusals, IsEmpty());
  ASSERT_THAT(compared.pages, SizeIs(1));
  EXPECT_THAT(compared.pages[0].b.loads, SizeIs(8));
  EXPECT_THAT(compared.remarks,
              ElementsAre("loads used up a processor quota and had to wait, 0 of A and 8 of B: "
                          "without it they take less time"));
}

TEST(Disturbance, IsWhatCanHaveCostMoreThanTheLeastEffect) {
  auto machine = quiet();
  machine.steal_ms = 40;
  EXPECT_EQ(why(page_on(machine), 50), "");
  machine.throttled_ms = 60;
  EXPECT_EQ(why(page_on(machine), 50), "a processor quota stopped the load for 60 ms");
}

TEST(Disturbance, OtherProgramsDoNotMatterToALoadThatGoesBeforeThem) {
  auto machine = quiet();
  machine.busy_ms = 1950;
  machine.own_nice = kFavouredNice;
  EXPECT_EQ(why(machine), "");
}

TEST(Disturbance, IsNotMoreFrequentForAPageThatUsesTheProcessorsTwice) {
  for (double const others_ms : {0.0, 100.0, 190.0, 210.0, 400.0}) {
    auto light = quiet();
    light.own_ms = 500;
    light.busy_ms = light.own_ms + others_ms;
    light.cpu_pressure_ms = 20;
    auto heavy = light;
    heavy.own_ms = 1000;
    heavy.own_waiting_ms = 800;
    heavy.cpu_pressure_ms = 600;
    heavy.busy_ms = heavy.own_ms + others_ms;
    EXPECT_EQ(why(light), why(heavy)) << others_ms;
  }
}

TEST(Disturbance, LatenessCountsAgainstTheEffectThatIsLookedFor) {
  ReplaySummary replay;
  replay.link.emplace().lateness_cost_ms = 15;
  auto const all = disturbances_of(PageLoad(), &replay);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].text, "late packets can have cost up to 15.0 ms");
  EXPECT_FALSE(disturbed(all, 15));
  EXPECT_TRUE(disturbed(all, 10));
}

TEST(Disturbance, StealCountsBeyondTwiceItsUsualShare) {
  auto machine = quiet();  // 900 ms of the processors
  machine.steal_ms = 100;
  auto const all = disturbances_of(page_on(machine), nullptr);
  EXPECT_TRUE(disturbed(all, 10));
  EXPECT_TRUE(disturbed(all, 10, 0.044));  // 88 of 100
  EXPECT_FALSE(disturbed(all, 10, 0.046));
  // 92 of these 100 ms are usual.
  auto const late = [&all](double cost_ms) {
    auto more = all;
    more.push_back({.cost_ms = cost_ms, .text = "late", .by_host = true});
    return disturbed(more, 10, 0.046).has_value();
  };
  EXPECT_FALSE(late(100));
  EXPECT_TRUE(late(105));
  machine.throttled_ms = 20;
  EXPECT_EQ(disturbed(disturbances_of(page_on(machine), nullptr), 10, 0.046)->text,
            "a processor quota stopped the load for 20 ms");
}

TEST(Disturbance, UsualStealIsASumAndHasALimit) {
  UsualSteal usual;
  EXPECT_EQ(usual.share(), 0);
  for (double const steal_ms : {0.0, 0.0, 30.0}) {
    auto machine = quiet();
    machine.steal_ms = steal_ms;
    usual.add(disturbances_of(page_on(machine), nullptr));
  }
  usual.add({{.cost_ms = 500, .text = "of another kind"}});
  EXPECT_DOUBLE_EQ(usual.share(), 30.0 / (3 * 900 + 30));
  auto machine = quiet();
  machine.steal_ms = 2000;
  usual.add(disturbances_of(page_on(machine), nullptr));
  EXPECT_EQ(usual.share(), UsualSteal::kShareMax);
}

TEST(Disturbance, StealThatBothSidesHadIsARemarkAndThatOfOneSideARefusal) {
  auto const side = [](double steal_ms) {
    Measurements all;
    all.replays.resize(1);
    for (int i = 0; i < 8; ++i) {
      LoadRow row{.url = "https://a.test/", .loaded = true, .replay = 0};
      row.metrics[metric("load")] = 1000 + i;
      auto machine = quiet();
      machine.steal_ms = steal_ms + i;
      row.disturbances = disturbances_of(page_on(machine), nullptr);
      all.loads.push_back(row);
    }
    return all;
  };
  CompareOptions const options{.metrics = {metric("load")}};
  auto const both = compare(side(36), side(27), options);
  EXPECT_THAT(both.refusals, IsEmpty());
  ASSERT_THAT(both.pages, SizeIs(1));
  EXPECT_EQ(both.pages[0].a.doubtful + both.pages[0].b.doubtful, 0U);
  EXPECT_THAT(both.remarks, ElementsAre("the host took 4.2 % of the processor time of A's loads, "
                                        "3.3 % of B's (steal): times vary more, and are longer, "
                                        "than on a machine of one's own"));
  auto const one = compare(side(36), side(0), options);
  ASSERT_THAT(one.refusals, SizeIs(1));
  EXPECT_EQ(one.refusals[0].difference, Mismatch::kCalibration);
}

TEST(Disturbance, LeavesALoadOutOfAComparison) {
  Measurements all;
  all.replays.resize(1);
  for (int i = 0; i < 5; ++i) {
    LoadRow row{.url = "https://a.test/", .loaded = true, .replay = 0};
    row.metrics[metric("load")] = 1000;
    all.loads.push_back(row);
  }
  all.loads[2].disturbances = {{.cost_ms = 12, .text = "busy"}};
  all.loads[3].skipped = "with its partner";
  CompareOptions options;
  auto const groups = groups_of(all, counted_loads(options));  // 1 % of a second
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].loads, SizeIs(3));
  EXPECT_EQ(groups[0].doubtful, 1U);
  EXPECT_EQ(groups[0].repeated, 1U);
  EXPECT_THAT(groups[0].warnings, ElementsAre("busy"));
  all.loads[2].counts = true;
  EXPECT_THAT(groups_of(all, counted_loads(options))[0].loads, SizeIs(4));
  all.loads[2].counts = false;
  options.least_relative = 0.02;
  EXPECT_THAT(groups_of(all, counted_loads(options))[0].loads, SizeIs(4));
  options.allowed = {Mismatch::kCalibration};
  EXPECT_THAT(groups_of(all, counted_loads(options))[0].loads, SizeIs(5));
}

TEST(Disturbance, LatenessIsThatOfTheLoadAloneAndAShareOfIt) {
  ReplaySummary replay;
  replay.link.emplace().lateness_cost_ms = 90;  // with what the page did after its load event
  PageLoad page;
  page.load_event_ms = 2000;
  page.lateness_ms = 15;
  auto const all = disturbances_of(page, &replay);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].text, "late packets can have cost up to 15.0 ms (0.8 % of the load event)");
  EXPECT_FALSE(disturbed(all, 20));
  page.lateness_ms.reset();  // of an older result
  EXPECT_TRUE(disturbed(disturbances_of(page, &replay), 20));
}

TEST(Disturbance, ADeviationOfTheLinkCountsAgainstTheEffectThatIsLookedFor) {
  ReplaySummary replay;
  auto& link = replay.link.emplace();
  link.warnings = {"down: the rate is 1 kbit/s"};
  link.deviations = {{.text = "down: the rate is 1 kbit/s", .share = 0.03}};
  auto page = page_on(quiet());
  page.load_event_ms = 2000;
  EXPECT_EQ(reason_to_skip(page, &replay, 50, 0), "down: the rate is 1 kbit/s");
  EXPECT_EQ(reason_to_skip(page, &replay, 70, 0), "");
  EXPECT_THAT(unmeasured_doubts(link), IsEmpty());
  link.warnings.emplace_back("up: 3 packets were lost");
  EXPECT_EQ(reason_to_skip(page, &replay, 70, 0), "up: 3 packets were lost");
  EXPECT_THAT(unmeasured_doubts(link), ElementsAre("up: 3 packets were lost"));
}

TEST(Disturbance, ADeviationOfAnUnknownTimeIsAReasonToSkip) {
  ReplaySummary replay;
  replay.link.emplace().deviations = {{.text = "slow", .share = 0.03}};
  EXPECT_EQ(reason_to_skip(PageLoad(), &replay, 1e9, 0), "slow");
}

TEST(Disturbance, APauseCostsAsLongAsItLastedWhateverAQuotaTook) {
  auto machine = quiet();
  machine.paused_ms = 150;
  EXPECT_EQ(why(machine), "the load was paused for 150 ms");
  EXPECT_EQ(why(page_on(machine), 160), "");
  machine = under_quota(2);  // the page used it up: the sum over processors is 9 s
  machine.paused_ms = 2000;
  EXPECT_EQ(why(machine), "the load was paused for 2000 ms");
  machine.throttled_ms = 0;
  EXPECT_EQ(why(machine), "the load was paused for 2000 ms");
}

TEST(Disturbance, LatenessIsThatOfAQuotaAsFarAsItStoppedTheLoad) {
  auto page = page_on(under_quota(2));
  page.lateness_ms = 3990;
  EXPECT_EQ(why(page), "");
  page.lateness_ms = 4020;
  EXPECT_EQ(why(page), "late packets can have cost up to 4020.0 ms");
}
