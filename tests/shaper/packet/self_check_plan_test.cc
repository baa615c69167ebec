#include "shaper/packet/self_check_plan.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace reprise
