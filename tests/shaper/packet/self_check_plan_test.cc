#include "shaper/packet/self_check_plan.h"

#include <gtest/gtest.h>

#include <string>

#include "shaper/link.h"
#include "shaper/packet/lateness.h"
#include "shaper/wire.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;

LinkProfile link_to_check(const std::string& text) {
  auto const link = parse_link(text);
  EXPECT_TRUE(link) << link.error();
  return link.value_or(LinkProfile{});
}

TEST(SelfCheckPlan, ExpectsOfAPingWhatTheWireTakes) {
  for (const char* const text : {"none", "100/100/0", "30/30/20", "100/100/0,burst=15kb",
                                 "100/100/0,burst=64b", "100/100/0,burst=32b"}) {
    auto const settings = link_to_check(text).down;
    Wire wire(settings, 0s);
    auto const took = wire.send(kPingBytes, 10s) - 10s + settings.delay;
    EXPECT_NEAR(expected_ping_ms(settings).value_or(-1), to_ms(took), 1e-5) << text;
  }
}

TEST(SelfCheckPlan, ABurstPassesAtOnce) {
  EXPECT_DOUBLE_EQ(expected_ping_ms(link_to_check("100/100/40").down).value_or(-1), 25.12);
  EXPECT_DOUBLE_EQ(expected_ping_ms(link_to_check("100/100/40,burst=15kb").down).value_or(-1), 20);
}

TEST(SelfCheckPlan, ExpectsNothingOfALinkThatPauses) {
  EXPECT_FALSE(expected_ping_ms(link_to_check("100/100/40,outage=1s-2s").down));
}

TEST(SelfCheckPlan, SkipsALinkThatIsTooSlowForItsTime) {
  auto const skipped = "the link is too slow for a self-check";
  EXPECT_EQ(plan_self_check(link_to_check("1.5/0.5/50")).skipped, skipped);
  EXPECT_EQ(plan_self_check(link_to_check("1bit/1bit/0")).skipped, skipped);
  EXPECT_EQ(plan_self_check(link_to_check("100mbit/1/20,outage=1s-2s")).skipped, skipped);
  // Each alone would fit.
  EXPECT_EQ(plan_self_check(link_to_check("20/20/1200")).skipped, skipped);
  EXPECT_EQ(plan_self_check(link_to_check("20/20/100")).skipped, "");
  EXPECT_EQ(plan_self_check(link_to_check("9000/9000/1200")).skipped, "");
  EXPECT_EQ(plan_self_check(link_to_check("9000/9000/1400")).skipped,
            "the delay is too long for a self-check");
}

TEST(SelfCheckPlan, ATrainFitsASmallQueue) {
  auto const train = plan_self_check(link_to_check("9000/9000/20,queue=1000b")).down;
  EXPECT_EQ(train.packets, 2U);
  EXPECT_LE((train.packets - 1) * train.packet_bytes, 1000U);
}

TEST(SelfCheckPlan, NoPacketOfATrainIsDroppedByASmallQueue) {
  for (const char* const queue : {"1b", "63b", "64b", "100b", "1000b", "1p"}) {
    auto const settings = link_to_check(std::string("9000/9000/20,queue=") + queue).down;
    auto const train = plan_self_check({.down = settings, .up = settings}).down;
    EXPECT_GE(train.packets, 1U) << queue;
    Link link(settings, 1, 0, 0s);
    for (std::uint32_t i = 0; i < train.packets; ++i) {
      Packet const packet{.handle = i, .size_bytes = train.packet_bytes};
      EXPECT_EQ(link.enqueue(packet, 0s), Admission::queued) << queue;
    }
  }
}

TEST(SelfCheckPlan, EveryKnownProfileIsChecked) {
  for (const LinkProfile& profile : known_profiles()) {
    EXPECT_EQ(plan_self_check(profile).skipped, "") << profile.id;
  }
}

TEST(SelfCheckPlan, WaitsAsLongAsTheLastPacketCanTake) {
  for (const char* const text : {"none", "20/20/100", "9000/768/170,jitter=20ms"}) {
    auto const link = link_to_check(text);
    auto const plan = plan_self_check(link);
    Wire wire(link.up, 0s);
    auto at = std::chrono::nanoseconds(0);
    for (std::uint32_t i = 0; i < kPings; ++i, at += plan.ping_gap) {
      auto const left = wire.send(kPingBytes, at);
      EXPECT_LE(left, at + plan.ping_gap) << text;
    }
    auto left = at;
    for (std::uint32_t i = 0; i < plan.up.packets; ++i) left = wire.send(plan.up.packet_bytes, at);
    EXPECT_LE(left - at + link.up.delay + link.up.jitter, plan.trains_wait) << text;
  }
}

}  // namespace
}  // namespace reprise
