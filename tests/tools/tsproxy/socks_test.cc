#include "tools/tsproxy/socks.h"

#include <gtest/gtest.h>

namespace reprise::tsproxy {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes name_request(const std::string& name) {
  Bytes bytes{5, 1, 0, 3, static_cast<std::uint8_t>(name.size())};
  bytes.insert(bytes.end(), name.begin(), name.end());
  bytes.insert(bytes.end(), {0x01, 0xbb});
  return bytes;
}

TEST(Socks, ReadsAGreetingThatOffersNoAuthentication) {
  EXPECT_EQ(read_greeting(Bytes{5, 2, 2, 0, 99}), 4U);
  EXPECT_EQ(read_greeting(Bytes{5, 1, 2}).error(), SocksFault::kNoMethod);
  EXPECT_EQ(read_greeting(Bytes{5, 0}).error(), SocksFault::kNoMethod);
  EXPECT_EQ(read_greeting(Bytes{4, 1}).error(), SocksFault::kNotSocks);
  for (auto const& part : {Bytes{}, Bytes{5}, Bytes{5, 2, 0}}) {
    EXPECT_EQ(read_greeting(part).error(), SocksFault::kIncomplete);
  }
}

TEST(Socks, ReadsRequestsForNamesAndAddresses) {
  auto const name = read_request(name_request("www.example.org"));
  ASSERT_TRUE(name);
  EXPECT_EQ(name->host, "www.example.org");
  EXPECT_EQ(name->port, 443);
  EXPECT_EQ(name->size, 22U);
  EXPECT_EQ(read_request(Bytes{5, 1, 0, 1, 192, 0, 2, 7, 0, 80})->host, "192.0.2.7");
  Bytes v6{5, 1, 0, 4};
  v6.resize(20);
  v6.back() = 1;
  v6.insert(v6.end(), {0x1f, 0x90});
  EXPECT_EQ(read_request(v6)->host, "::1");
  EXPECT_EQ(read_request(v6)->port, 8080);
}

TEST(Socks, WaitsForTheRestOfARequest) {
  auto const whole = name_request("a.test");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto const part = read_request(std::span(whole).first(size));
    ASSERT_FALSE(part) << size;
    EXPECT_EQ(part.error(), SocksFault::kIncomplete) << size;
  }
}

TEST(Socks, RefusesOtherCommandsAndAddresses) {
  EXPECT_EQ(read_request(Bytes{5, 2, 0, 1, 1}).error(), SocksFault::kNotSupported);
  EXPECT_EQ(read_request(Bytes{5, 1, 0, 9, 1}).error(), SocksFault::kBadAddress);
  EXPECT_EQ(read_request(Bytes{4, 1}).error(), SocksFault::kNotSocks);
}

}  // namespace
}  // namespace reprise::tsproxy
