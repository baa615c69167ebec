#include "dns/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dns/error.h"
#include "dns/look_up.h"
#include "dns/served_https.h"
#include "dns/svcb.h"
#include "tests/dns/message_text.h"

namespace reprise::dns {
namespace {

namespace ip = boost::asio::ip;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<RecordedHost> kSite{
    {.host = "www.example.org", .addresses = {"192.0.2.1:443", "192.0.2.2:443"}},
    {.host = "cdn.example.net", .addresses = {"[2001:db8::5]:443"}},
    {.host = "WWW.example.org.", .addresses = {"192.0.2.1:80", "198.51.100.9:80"}},
    {.host = "static.example.org", .addresses = {"192.0.2.2"}}};

Plan plan_of(const std::vector<RecordedHost>& recorded, const Plan::Options& options = {}) {
  return Plan::create(recorded, options).value();
}

std::vector<std::string> addresses_of(const Plan& plan, std::string_view host) {
  std::vector<std::string> texts;
  auto const* const found = plan.find(host);
  if (found == nullptr) return texts;
  for (const auto& address : found->addresses) texts.push_back(address.to_string());
  return texts;
}

TEST(Plan, NumbersAddressesByFirstAppearance) {
  auto const plan = plan_of(kSite);
  EXPECT_THAT(addresses_of(plan, "www.example.org"),
              ElementsAre("127.18.0.1", "127.18.0.2", "127.18.0.4"));
  EXPECT_THAT(addresses_of(plan, "cdn.example.net"), ElementsAre("127.18.0.3"));
  EXPECT_THAT(addresses_of(plan, "static.example.org"), ElementsAre("127.18.0.2"));
  EXPECT_EQ(plan.stand_ins().size(), 4u);
}

TEST(Plan, HasTheSameNumbersInANamespace) {
  auto const plan = plan_of(kSite, {.range = Plan::Range::kNamespace});
  EXPECT_THAT(addresses_of(plan, "cdn.example.net"), ElementsAre("198.18.0.3"));
  EXPECT_EQ(plan.catch_all().to_string(), "198.19.0.1");
}

TEST(Plan, KnowsTheStandInOfAnOrigin) {
  auto const plan = plan_of(kSite);
  EXPECT_EQ(plan.stand_in_of(ip::make_address("2001:db8::5"))->to_string(), "127.18.0.3");
  EXPECT_EQ(plan.stand_in_of(ip::make_address("203.0.113.1")), std::nullopt);
}

TEST(Plan, TakesAMappedAddressForTheIpv4One) {
  auto const plan = plan_of({{.host = "a.example", .addresses = {"::ffff:192.0.2.1"}},
                             {.host = "b.example", .addresses = {"192.0.2.1"}}});
  EXPECT_EQ(addresses_of(plan, "a.example"), addresses_of(plan, "b.example"));
}

TEST(Plan, GivesAHostWithoutAddressOneOfItsOwn) {
  auto const plan = plan_of({{.host = "lost.example", .addresses = {"nonsense"}},
                             {.host = "a.example", .addresses = {"192.0.2.1"}},
                             {.host = "also-lost.example"}});
  EXPECT_THAT(addresses_of(plan, "a.example"), ElementsAre("127.18.0.1"));
  EXPECT_THAT(addresses_of(plan, "lost.example"), ElementsAre("127.18.0.2"));
  EXPECT_THAT(addresses_of(plan, "also-lost.example"), ElementsAre("127.18.0.3"));
}

TEST(Plan, TakesALiteralForAnOriginThatNobodyLooksUp) {
  auto const plan = plan_of({{.host = "192.0.2.1", .addresses = {"192.0.2.1:80"}},
                             {.host = "[2001:db8::1]"},
                             {.host = "a.example", .addresses = {"192.0.2.1"}}});
  EXPECT_THAT(addresses_of(plan, "192.0.2.1"), ElementsAre("127.18.0.1"));
  EXPECT_THAT(addresses_of(plan, "a.example"), ElementsAre("127.18.0.1"));
  EXPECT_THAT(addresses_of(plan, "2001:db8::1"), ElementsAre("127.18.0.2"));
  auto const zone = plan.zone(false);
  ASSERT_THAT(zone.entries, SizeIs(1));
  EXPECT_EQ(zone.entries[0].host, "a.example");
  EXPECT_THAT(plan.chromium_rules({.http = 8080, .https = 8443}, false),
              testing::HasSubstr("MAP [2001:db8::1]:80 127.18.0.2:8080,"
                                 "MAP 2001:db8::1 127.18.0.2:8443,"));
}

TEST(Plan, PutsAllOnOneAddressForASingleTopology) {
  auto const plan = plan_of(kSite, {.single = true});
  for (const auto& host : plan.hosts()) {
    EXPECT_THAT(addresses_of(plan, host.host), ElementsAre("127.18.0.1"));
  }
  EXPECT_THAT(plan.stand_ins(), ElementsAre(ip::make_address_v4("127.18.0.1")));
  EXPECT_EQ(plan.catch_all().to_string(), "127.18.0.1");
}

TEST(Plan, WritesChromiumsRules) {
  auto const plan = plan_of({kSite[1], {.host = "lost.example"}});
  EXPECT_EQ(plan.chromium_rules({.http = 8080, .https = 8443}, false),
            "MAP cdn.example.net:80 127.18.0.1:8080,MAP cdn.example.net 127.18.0.1:8443,"
            "MAP lost.example:80 127.18.0.2:8080,MAP lost.example 127.18.0.2:8443,"
            "MAP * ~NOTFOUND");
  EXPECT_EQ(plan.chromium_rules({}, true),
            "MAP cdn.example.net 127.18.0.1,MAP lost.example 127.18.0.2,MAP * 127.19.0.1");
  EXPECT_EQ(plan.chromium_rules({.http = 80, .https = 8443}, true),
            "MAP cdn.example.net:80 127.18.0.1:80,MAP cdn.example.net 127.18.0.1:8443,"
            "MAP lost.example:80 127.18.0.2:80,MAP lost.example 127.18.0.2:8443,"
            "MAP *:80 127.19.0.1:80,MAP * 127.19.0.1:8443");
}

TEST(Plan, LetsNoHostWriteRulesOfItsOwn) {
  auto const plan = plan_of({{.host = "a,MAP * 203.0.113.1"}, {.host = "b\n203.0.113.1 c"}});
  EXPECT_THAT(plan.hosts(), IsEmpty());
  EXPECT_THAT(plan.refused(), ElementsAre("a,MAP * 203.0.113.1", "b\n203.0.113.1 c"));
  EXPECT_EQ(plan.chromium_rules({}, false), "MAP * ~NOTFOUND");
}

TEST(Plan, HasRoomFor65000Addresses) {
  std::vector<RecordedHost> many{{.host = "a.example"}};
  for (std::uint32_t i = 0; i < Plan::kAddressesMax; ++i) {
    many[0].addresses.push_back(ip::address_v4(0x0a000000 + i).to_string());
  }
  auto const plan = plan_of(many);
  EXPECT_EQ(plan.stand_ins().back().to_string(), "127.18.255.230");
  many[0].addresses.push_back("192.0.2.1");
  EXPECT_EQ(Plan::create(many, {}).error(), errc::too_many_addresses);
}

TEST(Plan, AnswersTheRecordedChainAndTtl) {
  auto const zone = plan_of({{.host = "www.example.org",
                              .addresses = {"192.0.2.1"},
                              .chain = {"CDN.example.net.", "edge.example.net"},
                              .ttl_s = 20}})
                        .zone(true);
  ASSERT_EQ(zone.entries.size(), 1u);
  EXPECT_THAT(zone.entries[0].chain, ElementsAre("cdn.example.net", "edge.example.net"));
  EXPECT_EQ(zone.entries[0].ttl_s, 20u);
  EXPECT_EQ(zone.catch_all->to_string(), "127.19.0.1");
}

TEST(Plan, DelaysTheAnswersOfEachTypeByTheLongestDelay) {
  using std::chrono::milliseconds;
  auto const zone =
      plan_of({{.host = "a.example", .delay = {.a = milliseconds(5), .https = milliseconds(9)}},
               {.host = "A.example", .delay = {.a = milliseconds(2), .aaaa = milliseconds(60)}}})
          .zone(false);
  ASSERT_THAT(zone.entries, SizeIs(1));
  EXPECT_EQ(
      zone.entries[0].delay,
      (LookupTimes{.a = milliseconds(5), .aaaa = milliseconds(60), .https = milliseconds(9)}));
}

TEST(Plan, LeavesOutAChainThatLeadsBack) {
  auto const zone =
      plan_of(
          {{.host = "a.example", .addresses = {"192.0.2.1"}, .chain = {"b.example", "A.example"}}})
          .zone(false);
  EXPECT_THAT(zone.entries[0].chain, IsEmpty());
}

TEST(Plan, LeavesOutAChainThatIsLongerThanARecordedOne) {
  RecordedHost host{.host = "a.example", .addresses = {"192.0.2.1"}};
  for (std::size_t i = 0; i < LookUpAnswer::kChainMax; ++i) {
    host.chain.push_back("link" + std::to_string(i) + ".example");
  }
  EXPECT_THAT(plan_of({host}).zone(false).entries[0].chain, SizeIs(LookUpAnswer::kChainMax));
  host.chain.emplace_back("last.example");
  EXPECT_THAT(plan_of({host}).zone(false).entries[0].chain, IsEmpty());
}

class ServedHttps : public testing::Test {
 protected:
  std::optional<Svcb> served(Svcb record, bool keeps_h3 = false) {
    return served_https(
        std::move(record), {ip::make_address_v4("198.18.0.7")},
        [](const Name& name) { return name.text() == "known.example"; }, keeps_h3);
  }
};

TEST_F(ServedHttps, SaysH3WhereItIsServed) {
  SvcParam const alpn{kSvcAlpn, alpn_value({"h3-29", "h3", "h2"})};
  auto const record = served({.priority = 1, .params = {alpn, {kSvcPort, "\x20\xfb"}}}, true);
  EXPECT_THAT(record->params, ElementsAre(SvcParam{kSvcAlpn, alpn_value({"h3", "h2"})},
                                          SvcParam{kSvcPort, "\x20\xfb"}));
}

TEST(Plan, OnlyTheGivenHostsOfferH3) {
  std::vector<Svcb> const https{{.priority = 1, .params = {{kSvcAlpn, alpn_value({"h3"})}}}};
  auto const plan = plan_of({{.host = "a.example", .addresses = {"192.0.2.1"}, .https = https},
                             {.host = "b.example", .addresses = {"192.0.2.1"}, .https = https}});
  auto const zone = plan.zone(false, {"b.example"});
  EXPECT_THAT(zone.entries[0].https[0].params, IsEmpty());
  EXPECT_THAT(zone.entries[1].https[0].params, ElementsAre(https[0].params[0]));
}

TEST_F(ServedHttps, HasNeitherEchNorH3AndHintsAtTheStandIn) {
  auto const record = served({.priority = 1,
                              .params = {{kSvcMandatory, mandatory_value({kSvcAlpn, kSvcEch})},
                                         {kSvcAlpn, alpn_value({"h3", "h3-29", "h2"})},
                                         {kSvcIpv4Hint, "1234"},
                                         {kSvcEch, "keys"},
                                         {kSvcIpv6Hint, std::string(16, 'x')},
                                         {65280, "kept"}}});
  EXPECT_THAT(
      record->params,
      ElementsAre(SvcParam{kSvcMandatory, mandatory_value({kSvcAlpn})}, SvcParam{kSvcAlpn, "\2h2"},
                  SvcParam{kSvcIpv4Hint, std::string("\xc6\x12\0\7", 4)}, SvcParam{65280, "kept"}));
}

TEST_F(ServedHttps, IsLeftOutWhenNothingIsLeftToSpeak) {
  SvcParam const h3{kSvcAlpn, alpn_value({"h3"})};
  EXPECT_EQ(served({.priority = 1, .params = {h3, {kSvcNoDefaultAlpn, ""}}}), std::nullopt);
  EXPECT_THAT(served({.priority = 1, .params = {h3}})->params, IsEmpty());
}

TEST_F(ServedHttps, IsLeftOutWhenItLeadsWhereNothingWasRecorded) {
  EXPECT_TRUE(served({.priority = 0, .target = name_of("known.example")}));
  EXPECT_FALSE(served({.priority = 0, .target = name_of("other.example")}));
}

TEST_F(ServedHttps, IsLeftOutWhenItIsNotWellFormed) {
  EXPECT_FALSE(served({.priority = 1, .params = {{kSvcAlpn, "\7h2"}}}));
  EXPECT_FALSE(served({.priority = 1, .params = {{kSvcPort, "1"}}}));
}

}  // namespace
}  // namespace reprise::dns
