#include "tools/serve/h3_offers.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(H3Offers, AnAlternativeOnTheSameHostCounts) {
  EXPECT_TRUE(offers_h3(R"(h3=":443")"));
  EXPECT_TRUE(offers_h3(R"(h3-29=":443"; ma=86400, h3=":8443"; ma=86400)"));
  EXPECT_TRUE(offers_h3(R"(h2=":443",h3=":443")"));
}

TEST(H3Offers, OtherProtocolsAndHostsDoNot) {
  EXPECT_FALSE(offers_h3(""));
  EXPECT_FALSE(offers_h3("clear"));
  EXPECT_FALSE(offers_h3(R"(h3-29=":443", quic=":443")"));
  EXPECT_FALSE(offers_h3(R"(h3="elsewhere.test:443")"));
  EXPECT_FALSE(offers_h3(R"(h2=":443"; x="h3=")"));
  EXPECT_FALSE(offers_h3(",,,"));
}

}  // namespace
}  // namespace reprise
