#include "dns/svcb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dns/error.h"
#include "dns/wire.h"

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
}

TEST(Svcb, HasNothingWhereTheParameterIsMissing) {
  Svcb const svcb;
  EXPECT_THAT(*alpn_of(svcb), IsEmpty());
  EXPECT_EQ(*port_of(svcb), std::nullopt);
  EXPECT_THAT(*mandatory_of(svcb), IsEmpty());
}

TEST(Svcb, RefusesValuesOfAnotherForm) {
  using namespace std::string_literals;
  for (const auto& value : {""s, "\0"s, "\3h2"s, "\2h2\0"s}) {
    EXPECT_EQ(alpn_of(with(kSvcAlpn, value)).error(), errc::bad_record) << value;
  }
  for (const auto& value : {""s, "1"s, "123"s}) {
    EXPECT_FALSE(port_of(with(kSvcPort, value))) << value;
    EXPECT_FALSE(mandatory_of(with(kSvcMandatory, value))) << value;
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
}

TEST(Svcb, AloneHasTheBytesOfRfc9460) {
  using namespace std::string_literals;
  // Appendix D.2, figure 5: "16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn
  // ipv4hint=192.0.2.1".
  Svcb svcb{.priority = 16, .target = *Name::parse("foo.example.org"), .params = {}};
  set_param(svcb, kSvcMandatory, mandatory_value({kSvcAlpn, kSvcIpv4Hint}));
  set_param(svcb, kSvcAlpn, alpn_value({"h2", "h3-19"}));
  set_param(svcb, kSvcIpv4Hint, ipv4_hint_value({{192, 0, 2, 1}}));
  auto const bytes =
      "\x00\x10\x03\x66\x6f\x6f\x07\x65\x78\x61\x6d\x70\x6c\x65\x03\x6f\x72\x67\x00"
      "\x00\x00\x00\x04\x00\x01\x00\x04"
      "\x00\x01\x00\x09\x02\x68\x32\x05\x68\x33\x2d\x31\x39"
      "\x00\x04\x00\x04\xc0\x00\x02\x01"s;
  EXPECT_EQ(*encode_svcb(svcb), bytes);
  EXPECT_EQ(*decode_svcb(bytes), svcb);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    auto const cut = decode_svcb(std::string_view(bytes).substr(0, size));
    EXPECT_TRUE(!cut || cut->params.size() < 3) << size;
  }
}

TEST(Svcb, AloneIsRefusedWhenItCannotBeWritten) {
  Svcb svcb = with(kSvcAlpn, "");
  svcb.params.push_back(svcb.params[0]);
  EXPECT_EQ(encode_svcb(svcb).error(), errc::bad_record);
  EXPECT_EQ(encode_svcb(with(kSvcAlpn, std::string(70'000, 'x'))).error(), errc::too_large);
}

}  // namespace
}  // namespace reprise::dns
