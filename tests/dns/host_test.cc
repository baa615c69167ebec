#include "dns/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise::dns {
namespace {

TEST(Host, IsWrittenInOneWay) {
  EXPECT_EQ(normal_host("WWW.Example.Org"), "www.example.org");
  EXPECT_EQ(normal_host("example.org."), "example.org");
  EXPECT_EQ(normal_host("XN--BCHER-KVA.example"), "xn--bcher-kva.example");
  EXPECT_EQ(normal_host("_service.example"), "_service.example");
  EXPECT_EQ(normal_host("localhost"), "localhost");
  EXPECT_EQ(normal_host("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(normal_host("[2001:DB8:0:0::7]"), "2001:db8::7");
  EXPECT_EQ(normal_host("2001:db8::7"), "2001:db8::7");
  EXPECT_EQ(normal_host("[::ffff:192.0.2.7]"), "192.0.2.7");
}

TEST(Host, IsNothingElse) {
  for (const char* const host :
       {"", ".", "a..b", ".a", "a b", "a,MAP *", "*", "a\nb", "b\303\274cher.example", "[::1", "[]",
        "fe80::1%eth0", "a/b", "example.org..", "a:80"}) {
    EXPECT_EQ(normal_host(host), std::nullopt) << host;
  }
  EXPECT_EQ(normal_host(std::string(64, 'a')), std::nullopt);
}

TEST(Host, AddressesAreReadWithAndWithoutPort) {
  auto const text = [](const char* given) {
    auto const address = parse_address(given);
    return address ? address->to_string() : std::string("nothing");
  };
  EXPECT_EQ(text("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(text("192.0.2.7:443"), "192.0.2.7");
  EXPECT_EQ(text("[2001:db8::7]:443"), "2001:db8::7");
  EXPECT_EQ(text("[2001:db8::7]"), "2001:db8::7");
  EXPECT_EQ(text("2001:db8::7"), "2001:db8::7");
  EXPECT_EQ(text("::ffff:192.0.2.7"), "192.0.2.7");
  for (const char* const wrong : {"", "example.org", "[2001:db8::7", "[2001:db8::7]x", "1.2.3"}) {
    EXPECT_EQ(text(wrong), "nothing") << wrong;
  }
}

TEST(Host, EndpointsAreReadWithTheirPort) {
  auto const text = [](const char* given, std::optional<std::uint16_t> port = std::nullopt) {
    auto const at = parse_endpoint(given, port);
    return at ? at->address().to_string() + " " + std::to_string(at->port())
              : std::string("nothing");
  };
  EXPECT_EQ(text("127.0.0.1:8053"), "127.0.0.1 8053");
  EXPECT_EQ(text("[::1]:0"), "::1 0");
  EXPECT_EQ(text("127.0.0.1", 53), "127.0.0.1 53");
  EXPECT_EQ(text("::1", 53), "::1 53");
  EXPECT_EQ(text("[::1]", 53), "::1 53");
  for (const char* const wrong : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:5x",
                                  "::1", "[::1]", "[::1]:", "example.org:53", ":53"}) {
    EXPECT_EQ(text(wrong), "nothing") << wrong;
  }
}

}  // namespace
}  // namespace reprise::dns
