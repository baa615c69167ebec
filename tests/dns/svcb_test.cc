#include "dns/svcb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dns/error.h"

namespace reprise::dns {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Svcb with(std::uint16_t key, std::string value) {
  return {.priority = 1, .target = {}, .params = {{.key = key, .value = std::move(value)}}};
}

TEST(Svcb, ReadsEachParameter) {
  using namespace std::string_literals;
  EXPECT_THAT(*alpn_of(with(kSvcAlpn, "\2h2\10http/1.1")), ElementsAre("h2", "http/1.1"));
  EXPECT_EQ(**port_of(with(kSvcPort, "\x20\xfb")), 8443);
  EXPECT_THAT(*mandatory_of(with(kSvcMandatory, "\0\1\0\4"s)), ElementsAre(1, 4));
  EXPECT_THAT(*ipv4_hints_of(with(kSvcIpv4Hint, "\xc0\0\2\1\xc0\0\2\2"s)),
              ElementsAre(std::array<std::uint8_t, 4>{192, 0, 2, 1},
                          std::array<std::uint8_t, 4>{192, 0, 2, 2}));
  EXPECT_EQ(ipv6_hints_of(with(kSvcIpv6Hint, std::string(32, '\1')))->size(), 2u);
  EXPECT_EQ(ech_of(with(kSvcEch, "config")), "config");
}

TEST(Svcb, HasNothingWhereTheParameterIsMissing) {
  Svcb const svcb;
  EXPECT_THAT(*alpn_of(svcb), IsEmpty());
  EXPECT_EQ(*port_of(svcb), std::nullopt);
  EXPECT_THAT(*mandatory_of(svcb), IsEmpty());
  EXPECT_THAT(*ipv4_hints_of(svcb), IsEmpty());
  EXPECT_THAT(*ipv6_hints_of(svcb), IsEmpty());
  EXPECT_EQ(ech_of(svcb), "");
}

TEST(Svcb, RefusesValuesOfAnotherForm) {
  using namespace std::string_literals;
  for (const auto& value : {""s, "\0"s, "\3h2"s, "\2h2\0"s}) {
    EXPECT_EQ(alpn_of(with(kSvcAlpn, value)).error(), errc::bad_record) << value;
  }
  for (const auto& value : {""s, "1"s, "123"s}) {
    EXPECT_FALSE(port_of(with(kSvcPort, value))) << value;
    EXPECT_FALSE(mandatory_of(with(kSvcMandatory, value))) << value;
    EXPECT_FALSE(ipv4_hints_of(with(kSvcIpv4Hint, value))) << value;
    EXPECT_FALSE(ipv6_hints_of(with(kSvcIpv6Hint, value))) << value;
  }
}

TEST(Svcb, KeepsParametersInOrderWhenOneIsSet) {
  Svcb svcb = with(kSvcPort, "ab");
  set_param(svcb, kSvcIpv4Hint, "hint");
  set_param(svcb, kSvcAlpn, alpn_value({"h2", "http/1.1"}));
  set_param(svcb, kSvcPort, "cd");
  EXPECT_THAT(svcb.params, ElementsAre(SvcParam{kSvcAlpn, "\2h2\10http/1.1"},
                                       SvcParam{kSvcPort, "cd"}, SvcParam{kSvcIpv4Hint, "hint"}));
  set_param(svcb, kSvcPort, std::nullopt);
  set_param(svcb, kSvcEch, std::nullopt);
  EXPECT_THAT(svcb.params,
              ElementsAre(SvcParam{kSvcAlpn, "\2h2\10http/1.1"}, SvcParam{kSvcIpv4Hint, "hint"}));
}

TEST(Svcb, WritesWhatItReads) {
  EXPECT_THAT(*alpn_of(with(kSvcAlpn, alpn_value({"h3", "h2"}))), ElementsAre("h3", "h2"));
  EXPECT_THAT(*mandatory_of(with(kSvcMandatory, mandatory_value({1, 65280}))),
              ElementsAre(1, 65280));
  std::array<std::uint8_t, 4> const address{198, 18, 0, 1};
  EXPECT_THAT(*ipv4_hints_of(with(kSvcIpv4Hint, ipv4_hint_value({address}))), ElementsAre(address));
}

}  // namespace
}  // namespace reprise::dns
