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
            "none,rtt=100500us,down=5mbit");
}

TEST(TsproxySettings, AreRoundedToWhatALinkTakes) {
  auto const link_of = [](const Settings& settings) {
    EXPECT_TRUE(check_link(settings));
    return settings.link();
  };
  EXPECT_EQ(link_of({.inkbps = "683.59375"}), "none,down=683594bit");
  EXPECT_EQ(link_of({.rtt = "33.3333333333"}), "none,rtt=33333333ns");
  EXPECT_EQ(link_of({.inkbps = "1e3", .outkbps = "0.0001"}), "none,down=1mbit,up=1bit");
  EXPECT_EQ(link_of({.rtt = "1e-7", .inkbps = "0e5"}), "");
}

TEST(TsproxyCommand, ChangesOneSettingAndKeepsTheOthers) {
  Settings settings{.rtt = "7"};
  EXPECT_EQ(run_command("set inkbps 9000\n", settings), Command::kSet);
  EXPECT_EQ(run_command("SET mapports 443:8443,*:8080\n", settings), Command::kSet);
  EXPECT_EQ(settings.link(), "none,rtt=7ms,down=9mbit");
  EXPECT_EQ(settings.ports.of(443), 8443);
  EXPECT_EQ(run_command("reset rtt", settings), Command::kSet);
  EXPECT_EQ(settings.link(), "none,down=9mbit");
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
        "set mapports 443", "reset", "reset color", "jump", "set rtt 99999999999", "set rtt '",
        "set rtt nan", "set rtt inf", "set rtt 0x10", "set inkbps 1e3x", "set inkbps 1e30"}) {
    EXPECT_FALSE(run_command(line, settings)) << line;
    EXPECT_EQ(settings.link(), "none,rtt=7ms") << line;
  }
}

}  // namespace
}  // namespace reprise::tsproxy
