#include "base/http/registrable_domain.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

TEST(RegistrableDomain, IsOneLabelMoreThanAPublicSuffix) {
  EXPECT_EQ(registrable_domain("shop.test"), "shop.test");
  EXPECT_EQ(registrable_domain("img.cdn.shop.test"), "shop.test");
  EXPECT_EQ(registrable_domain("www.bbc.co.uk"), "bbc.co.uk");
  EXPECT_EQ(registrable_domain("a.b.xn--55qx5d.cn"), "b.xn--55qx5d.cn");
}

TEST(RegistrableDomain, KnowsSuffixesOfCompanies) {
  EXPECT_EQ(registrable_domain("docs.alice.github.io"), "alice.github.io");
}

TEST(RegistrableDomain, IsTheWholeOfOtherHosts) {
  for (std::string_view const host :
       {"localhost", "co.uk", "192.168.1.1", "2001:db8::1", "intranet", ""}) {
    EXPECT_EQ(registrable_domain(host), host);
  }
}

TEST(RegistrableDomain, TellsWhetherTwoHostsBelongTogether) {
  EXPECT_TRUE(is_same_site("shop.test", "img.shop.test"));
  EXPECT_FALSE(is_same_site("alice.github.io", "bob.github.io"));
  EXPECT_FALSE(is_same_site("10.0.1.1", "10.9.1.1"));
}

}  // namespace
}  // namespace reprise
