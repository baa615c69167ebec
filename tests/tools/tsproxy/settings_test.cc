#include "tools/tsproxy/settings.h"

#include <gtest/gtest.h>

namespace reprise::tsproxy {
namespace {

TEST(PortMap, TakesTheRuleOfThePortThenThatOfAnyThenThePort) {
  auto const map = PortMap::parse("*:4567,443:1234");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->of(443), 1234);
  EXPECT_EQ(map->of(80), 4567);
  EXPECT_EQ(PortMap::parse("443:1234")->of(80), 80);
  EXPECT_EQ(PortMap::parse("")->of(80), 80);
}

TEST(PortMap, RefusesWhatIsNoPort) {
  for (auto const* const text :
       {"443", "443:", ":80", "x:80", "443:0", "0:80", "443:65536", "443:80:1", "443:80,,"}) {
    EXPECT_FALSE(PortMap::parse(text)) << text;
  }
}

TEST(TsproxySettings, AreALinkOnlyIfTheyLimitAnything) {
  EXPECT_EQ(Settings().link(), "");
  EXPECT_EQ((Settings{.rtt = "0.0", .inkbps = "0", .outkbps = ".0"}.link()), "");
  EXPECT_EQ((Settings{.rtt = "100.5", .inkbps = "5000", .outkbps = "0"}.link()),
            "none,rtt=100.5ms,down=5000kbit");
}

TEST(TsproxyCommand, ChangesOneSettingAndKeepsTheOthers) {
  Settings settings{.rtt = "7"};
  EXPECT_EQ(run_command("set inkbps 9000\n", settings), Command::kSet);
  EXPECT_EQ(run_command("SET mapports 443:8443,*:8080\n", settings), Command::kSet);
  EXPECT_EQ(settings.link(), "none,rtt=7ms,down=9000kbit");
  EXPECT_EQ(settings.ports.of(443), 8443);
  EXPECT_EQ(run_command("reset rtt", settings), Command::kSet);
  EXPECT_EQ(settings.link(), "none,down=9000kbit");
  EXPECT_EQ(run_command("reset all", settings), Command::kSet);
  EXPECT_EQ(settings.link(), "");
  EXPECT_EQ(settings.ports.of(443), 443);
}

TEST(TsproxyCommand, FlushesAndExits) {
  Settings settings;
  EXPECT_EQ(run_command("flush\n", settings), Command::kFlush);
  EXPECT_EQ(run_command("exit\r\n", settings), Command::kExit);
  EXPECT_EQ(run_command(" \n", settings), Command::kNone);
}

TEST(TsproxyCommand, ThatIsRefusedChangesNothing) {
  Settings settings{.rtt = "7"};
  for (auto const* const line :
       {"set rtt", "set rtt fast", "set rtt -1", "set rtt 1,loss=5%", "set color red",
        "set mapports 443", "reset", "reset color", "jump", "set rtt 99999999999", "set rtt '"}) {
    EXPECT_FALSE(run_command(line, settings)) << line;
    EXPECT_EQ(settings.link(), "none,rtt=7ms") << line;
  }
}

}  // namespace
}  // namespace reprise::tsproxy
