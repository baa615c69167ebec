#include "proxy/http/alt_svc.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int> ports(std::string_view alt_svc) {
  std::vector<int> all;
  for (const H3Alternative& each : h3_alternatives(alt_svc)) all.push_back(each.port);
  return all;
}

TEST(AltSvc, AnAlternativeOnTheSameHostCounts) {
  EXPECT_THAT(ports(R"(h3=":443")"), ElementsAre(443));
  EXPECT_THAT(ports(R"(h3-29=":443"; ma=86400, h3=":8443"; ma=86400)"), ElementsAre(8443));
  EXPECT_THAT(ports(R"(h2=":443",h3=":443",h3=":444")"), ElementsAre(443, 444));
}

TEST(AltSvc, OtherProtocolsHostsAndPortsDoNot) {
  for (const char* value :
       {"", "clear", R"(h3-29=":443", quic=":443")", R"(h3="elsewhere.test:443")",
        R"(h2=":443"; x="h3=")", R"(h2=":443"; x=", h3=\":443\"")", ",,,", R"(h3=":443)",
        R"(h3=":0")", R"(h3=":65536")", R"(h3=":4x")", R"(h3=":")", "h3=:443", R"(x="\)"}) {
    EXPECT_THAT(ports(value), IsEmpty()) << value;
  }
}

TEST(AltSvc, OffersKeepTheirParameters) {
  EXPECT_EQ(only_h3(R"(h3-29=":443"; ma=60, h3=":443"; ma=86400;persist=1 , h3=":8443")"),
            R"(h3=":443"; ma=86400;persist=1, h3=":8443")");
  EXPECT_EQ(only_h3(R"(h3=":443"; x="a,b")"), R"(h3=":443"; x="a,b")");
  EXPECT_EQ(only_h3(R"(h2="other.test:443")"), "");
}

}  // namespace
}  // namespace reprise
