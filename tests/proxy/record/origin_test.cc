#include "proxy/record/origin.h"

#include <gtest/gtest.h>

#include "tests/proxy/http/loopback.h"

namespace reprise {
namespace {

TEST(ConnectTo, HasTheMeaningOfCurl) {
  auto const rule = parse_connect_to("a.test:443:127.0.0.1:8443");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->host, "a.test");
  EXPECT_EQ(rule->port, 443);
  EXPECT_EQ(rule->to_host, "127.0.0.1");
  EXPECT_EQ(rule->to_port, 8443);

  auto const any = parse_connect_to("::[::1]:");
  ASSERT_TRUE(any);
  EXPECT_EQ(any->host, "");
  EXPECT_EQ(any->port, 0);
  EXPECT_EQ(any->to_host, "::1");
  EXPECT_EQ(any->to_port, 0);
}

TEST(ConnectTo, RefusesWhatIsIncomplete) {
  for (const char* text : {"", "a", "a:1", "a:1:b", "a:x:b:2", "a:1:b:70000", "a:1:[::1:2"}) {
    EXPECT_FALSE(parse_connect_to(text)) << text;
  }
}

OriginDialer::Dialled dial(Loopback& ends, const OriginDialer& dialer,
                           const OriginDialer::Target& target) {
  OriginDialer::Dialled dialled;
  ends.spawn([&]() -> awaitable<void> {
    OriginDialer::Dialling dialling;
    dialled = co_await dialer.dial(target, nullptr, dialling, [] { return SessionTime(7); });
  });
  ends.run();
  return dialled;
}

TEST(OriginDialer, ConnectsWhereTheRuleSays) {
  Loopback ends;
  tcp::acceptor acceptor(ends.context, {net::ip::address_v4::loopback(), 0});
  OriginDialer::Options options;
  options.connect_to.push_back({.host = "A.test",
                                .port = 80,
                                .to_host = "127.0.0.1",
                                .to_port = acceptor.local_endpoint().port()});
  OriginDialer const dialer(std::move(options));
  auto const dialled = dial(ends, dialer, {.scheme = Scheme::kHttp, .host = "a.test", .port = 80});
  EXPECT_TRUE(dialled.stream);
  EXPECT_EQ(dialled.facts.host, "a.test");
  EXPECT_EQ(dialled.facts.address, "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()));
  EXPECT_EQ(dialled.facts.ready, SessionTime(7));
}

TEST(OriginDialer, SaysThatAnOriginRefuses) {
  Loopback ends;
  std::uint16_t free_port = 0;
  {
    tcp::acceptor const closed_at_once(ends.context, {net::ip::address_v4::loopback(), 0});
    free_port = closed_at_once.local_endpoint().port();
  }
  auto const dialled = dial(ends, OriginDialer({}),
                            {.scheme = Scheme::kHttp, .host = "127.0.0.1", .port = free_port});
  EXPECT_FALSE(dialled.stream);
  EXPECT_NE(dialled.facts.failure.find("refused"), std::string::npos) << dialled.facts.failure;
}

TEST(OriginDialer, NeverDialsItself) {
  Loopback ends;
  tcp::acceptor acceptor(ends.context, {net::ip::address_v4::loopback(), 0});
  OriginDialer::Options options;
  options.own.push_back(acceptor.local_endpoint());
  auto const dialled = dial(
      ends, OriginDialer(std::move(options)),
      {.scheme = Scheme::kHttp, .host = "127.0.0.1", .port = acceptor.local_endpoint().port()});
  EXPECT_FALSE(dialled.stream);
  EXPECT_NE(dialled.facts.failure.find("itself"), std::string::npos);
}

}  // namespace
}  // namespace reprise
