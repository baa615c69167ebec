#include "proxy/quic/early_datagrams.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {
namespace {

class EarlyDatagramsTest : public testing::Test {
 protected:
  static QuicSocket::Datagram datagram(std::string_view bytes, std::uint16_t client_port = 1) {
    auto const loopback = boost::asio::ip::address_v4::loopback();
    return {.bytes = std::as_bytes(std::span(bytes)),
            .local = {loopback, 443},
            .client = {loopback, client_port}};
  }
  std::vector<std::string> take(std::string_view id, std::uint16_t client_port = 1) {
    std::vector<std::string> texts;
    for (auto const& held : early.take(datagram("beginning", client_port), id, now)) {
      texts.emplace_back(reinterpret_cast<const char*>(held.bytes.data()), held.bytes.size());
    }
    return texts;
  }

  EarlyDatagrams early;
  EarlyDatagrams::TimePoint now;
};

TEST_F(EarlyDatagramsTest, GivesThoseOfOneHandshakeInTheOrderOfTheirArrival) {
  early.hold(datagram("two"), "a", now);
  early.hold(datagram("of another client", 2), "a", now);
  early.hold(datagram("three"), "a", now);
  early.hold(datagram("of another handshake"), "b", now);
  EXPECT_EQ(take("a"), (std::vector<std::string>{"two", "three"}));
  EXPECT_TRUE(take("a").empty());
  EXPECT_EQ(take("a", 2).size(), 1u);
  EXPECT_EQ(take("b").size(), 1u);
  EXPECT_EQ(early.size(), 0u);
}

TEST_F(EarlyDatagramsTest, TheOldestMakesRoom) {
  for (std::size_t i = 0; i < EarlyDatagrams::kCountMax + 1; ++i) {
    early.hold(datagram("later part"), std::to_string(i), now);
  }
  EXPECT_EQ(early.size(), EarlyDatagrams::kCountMax);
  EXPECT_TRUE(take("0").empty());
  EXPECT_EQ(take("1").size(), 1u);
  EXPECT_EQ(take(std::to_string(EarlyDatagrams::kCountMax)).size(), 1u);
}

TEST_F(EarlyDatagramsTest, DropsThemAfterAWhile) {
  early.hold(datagram("later part"), "a", now);
  now += EarlyDatagrams::kTimeMax;
  early.hold(datagram("later part"), "b", now);
  now += std::chrono::milliseconds(1);
  EXPECT_TRUE(take("a").empty());
  EXPECT_EQ(early.size(), 1u);
  early.drop_old(now + EarlyDatagrams::kTimeMax);
  EXPECT_EQ(early.size(), 0u);
}

TEST_F(EarlyDatagramsTest, DropsLongOnes) {
  std::string const longest(EarlyDatagrams::kDatagramBytesMax, 'x');
  early.hold(datagram(longest), "a", now);
  early.hold(datagram(longest + 'x'), "a", now);
  EXPECT_EQ(take("a"), std::vector<std::string>{longest});
}

}  // namespace
}  // namespace reprise
