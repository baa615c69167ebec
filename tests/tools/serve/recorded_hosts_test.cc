#include "tools/serve/recorded_hosts.h"

#include <gmock/gmock.h>

#include "archive/think_time.h"
#include "dns/look_up.h"
#include "dns/wire.h"
#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class RecordedHostsTest : public testing::Test {
 protected:
  void add_response_of(const std::string& host) {
    auto made = RecordedArchive::exchange("GET", "/", {});
    made.request.host = host;
    archive_.add(std::move(made));
  }
  void add_connection_to(const std::string& host) {
    archive_.add(ConnectionFacts{.id = ++connections_,
                                 .scheme = Scheme::kHttp,
                                 .host = host,
                                 .port = 80,
                                 .address = "192.0.2.1:80",
                                 .dns_start = milliseconds(10),
                                 .connect_start = milliseconds(40),
                                 .ready = milliseconds(60)});
  }
  /// A query that took so long; `rcode` none: no server answered.
  void add_query(std::uint16_t type, milliseconds took, std::vector<std::string> addresses = {},
                 std::optional<std::uint16_t> rcode = 0, const std::string& host = "a.test") {
    archive_.add(DnsAnswer{.host = host,
                           .type = type,
                           .rcode = rcode,
                           .addresses = std::move(addresses),
                           .asked = milliseconds(10),
                           .answered = milliseconds(10) + took});
  }
  /// Those of a.test.
  LookupTimes times() { return lookup_times(archive_.reader(), 1).at("a.test"); }
  static constexpr std::uint16_t kA = 1;
  static constexpr std::uint16_t kAaaa = 28;
  static constexpr std::uint16_t kHttps = 65;

  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (auto const& each : recorded_hosts(archive_.reader(), 1)) names.push_back(each.host);
    return names;
  }

  RecordedArchive archive_;
  std::uint64_t connections_ = 0;
};

TEST_F(RecordedHostsTest, OfAnImportAreAlsoThoseWithoutAConnection) {
  add_response_of("timed.test");
  add_connection_to("timed.test");
  add_response_of("cached.test");
  EXPECT_THAT(names(), UnorderedElementsAre("timed.test", "cached.test"));
}

TEST_F(RecordedHostsTest, OfARecordingThatAnImportWasMergedIntoAreThoseOfBoth) {
  add_response_of("recorded.test");
  add_connection_to("recorded.test");
  archive_.add(DnsAnswer{.host = "recorded.test", .type = 1});
  add_response_of("timed.test");
  add_connection_to("timed.test");
  add_response_of("cached.test");
  EXPECT_THAT(names(), UnorderedElementsAre("recorded.test", "timed.test", "cached.test"));
}

TEST_F(RecordedHostsTest, OfAnImportAreAsSlowToResolveAndAsFarAwayAsItsConnectionsSay) {
  add_response_of("timed.test");
  add_connection_to("timed.test");
  EXPECT_THAT(lookup_times(archive_.reader(), 1),
              ElementsAre(Pair("timed.test", LookupTimes::all(milliseconds(30)))));
  EXPECT_THAT(recorded_round_trips(archive_.reader(), 1),
              ElementsAre(std::pair(net::ip::make_address("192.0.2.1"), milliseconds(20))));
}

TEST_F(RecordedHostsTest, HaveNoThinkTimesIfNoResponseHasTimes) {
  auto made = RecordedArchive::exchange("GET", "/", {});
  made.timings = {};
  archive_.add(made);
  EXPECT_FALSE(has_think_times(archive_.reader(), 1));
}

TEST_F(RecordedHostsTest, HaveThinkTimesIfAResponseHasTimes) {
  auto made = RecordedArchive::exchange("GET", "/", {});
  made.timings = {.request_sent = milliseconds(1), .first_byte = milliseconds(9)};
  archive_.add(made);
  EXPECT_TRUE(has_think_times(archive_.reader(), 0));
  EXPECT_FALSE(has_think_times(archive_.reader(), 2));
}

TEST_F(RecordedHostsTest, AreAsFarAwayAsTcpMeasuredHoweverLateTheRecorderNoticed) {
  auto facts = ConnectionFacts{.id = 1,
                               .scheme = Scheme::kHttp,
                               .host = "a.test",
                               .port = 80,
                               .address = "192.0.2.1:80",
                               .connect_start = milliseconds(40),
                               .ready = milliseconds(190),
                               .round_trip = milliseconds(3)};
  archive_.add(facts);
  facts.address = "192.0.2.2:80";
  facts.round_trip = milliseconds(-3);  // of a hostile archive: what the times say counts
  archive_.add(facts);
  EXPECT_THAT(recorded_round_trips(archive_.reader(), 1),
              ElementsAre(std::pair(net::ip::make_address("192.0.2.1"), milliseconds(3)),
                          std::pair(net::ip::make_address("192.0.2.2"), milliseconds(150))));
}

TEST_F(RecordedHostsTest, AnswersCountBeforeConnections) {
  add_response_of("timed.test");
  add_connection_to("timed.test");
  archive_.add(DnsAnswer{
      .host = "timed.test", .type = 1, .asked = milliseconds(10), .answered = milliseconds(17)});
  EXPECT_THAT(lookup_times(archive_.reader(), 1),
              ElementsAre(Pair("timed.test", LookupTimes::all(milliseconds(7)))));
}

TEST_F(RecordedHostsTest, AreAsSlowToResolveAsTheLongestQueryOfEachType) {
  add_query(kA, milliseconds(5), {"192.0.2.1"});
  add_query(kA, milliseconds(3), {"192.0.2.1"});
  add_query(kAaaa, milliseconds(20));
  add_query(kHttps, milliseconds(150));
  add_query(99, milliseconds(1));
  EXPECT_EQ(
      times(),
      (LookupTimes{.a = milliseconds(5), .aaaa = milliseconds(20), .https = milliseconds(150)}));
  EXPECT_EQ(times().of_addresses(), milliseconds(20));
  EXPECT_EQ(times().of(kHttps), milliseconds(150));
  EXPECT_EQ(times().of(99), milliseconds(5));
}

TEST_F(RecordedHostsTest, WaitForTheOtherFamilyAsLongAsTheRecorderDid) {
  add_query(kA, milliseconds(5), {"192.0.2.1"});
  add_query(kAaaa, milliseconds(150), {"2001:db8::1"});
  EXPECT_EQ(times().a, milliseconds(5));
  EXPECT_EQ(times().aaaa, milliseconds(55));
}

TEST_F(RecordedHostsTest, WaitForIpv6IfIpv4HasNoAddresses) {
  add_query(kA, milliseconds(5));
  add_query(kAaaa, milliseconds(150), {"2001:db8::1"});
  EXPECT_EQ(times().a, milliseconds(5));
  EXPECT_EQ(times().aaaa, milliseconds(150));
}

TEST_F(RecordedHostsTest, DoNotWaitForQueriesWithoutAnAnswer) {
  add_query(kA, milliseconds(5), {"192.0.2.1"});
  add_query(kAaaa, milliseconds(6000), {}, std::nullopt);
  add_query(kHttps, milliseconds(6000), {}, std::nullopt);
  EXPECT_EQ(
      times(),
      (LookupTimes{.a = milliseconds(5), .aaaa = milliseconds(55), .https = milliseconds(55)}));
}

TEST_F(RecordedHostsTest, IgnoreAQueryWithoutAnAnswerIfAnotherOneHasOne) {
  add_query(kA, milliseconds(6000), {}, std::nullopt);
  add_query(kA, milliseconds(8), {"192.0.2.1"});
  EXPECT_EQ(times(), LookupTimes::all(milliseconds(8)));
}

TEST_F(RecordedHostsTest, WaitForTheTimeoutIfNothingWasAnswered) {
  for (auto const type : {kA, kAaaa, kHttps}) {
    add_query(type, milliseconds(6000), {}, std::nullopt);
  }
  EXPECT_EQ(times(), LookupTimes::all(milliseconds(6000)));
}

TEST_F(RecordedHostsTest, TakeTheShortestTimeForATypeWithoutAQuery) {
  add_query(kA, milliseconds(100), {"192.0.2.1"});
  add_query(kHttps, milliseconds(20));
  EXPECT_EQ(times().aaaa, milliseconds(20));
}

TEST_F(RecordedHostsTest, AnswersAlsoWaitForNamesThatWereLookedUpInVain) {
  add_query(kA, milliseconds(5), {"192.0.2.1"});
  add_query(kA, milliseconds(40), {}, 3, "lost.test");
  std::vector<dns::RecordedHost> hosts{{.host = "a.test"}, {.host = "a.test"}};
  dns::OtherDelays others;
  ThinkTime const doubled{.kind = ThinkTime::Kind::kRecorded, .factor = 2};
  EXPECT_TRUE(delay_answers(archive_.reader(), 1, doubled, hosts, others));
  EXPECT_EQ(hosts[0].delay, LookupTimes::all(milliseconds(10)));
  EXPECT_EQ(hosts[1].delay, hosts[0].delay);
  EXPECT_EQ(others.all, milliseconds(0));
  EXPECT_THAT(others.by_name, ElementsAre(Pair("lost.test", LookupTimes::all(milliseconds(80)))));
}

TEST_F(RecordedHostsTest, AFixedTimeIsThatOfAllNames) {
  std::vector<dns::RecordedHost> hosts{{.host = "a.test"}};
  dns::OtherDelays others;
  ThinkTime const fixed{.kind = ThinkTime::Kind::kFixed, .fixed = milliseconds(30)};
  EXPECT_TRUE(delay_answers(archive_.reader(), 1, fixed, hosts, others));
  EXPECT_EQ(hosts[0].delay, LookupTimes::all(milliseconds(30)));
  EXPECT_EQ(others.all, milliseconds(30));
  EXPECT_THAT(others.by_name, IsEmpty());
}

TEST_F(RecordedHostsTest, NothingWaitsIfNothingWasLookedUp) {
  add_response_of("a.test");
  auto hosts = recorded_hosts(archive_.reader(), 1);
  dns::OtherDelays others;
  ThinkTime const recorded{.kind = ThinkTime::Kind::kRecorded};
  EXPECT_FALSE(delay_answers(archive_.reader(), 1, recorded, hosts, others));
}

TEST_F(RecordedHostsTest, ComeWithTheirDnsDataOnce) {
  archive_.add(DnsAnswer{
      .host = "a.test", .type = 1, .chain = {"cdn.test"}, .addresses = {"192.0.2.1"}, .ttl_s = 20});
  add_response_of("a.test");
  add_connection_to("a.test");
  add_connection_to("a.test");
  auto const hosts = recorded_hosts(archive_.reader(), 1);
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_THAT(hosts[0].chain, ElementsAre("cdn.test"));
  EXPECT_EQ(hosts[0].ttl_s, 20u);
  EXPECT_EQ(hosts[1].host, "a.test");
  EXPECT_THAT(hosts[1].chain, IsEmpty());
  EXPECT_THAT(hosts[1].addresses, ElementsAre("192.0.2.1:80"));
}

TEST_F(RecordedHostsTest, HaveNoDnsDataBeyondTheLimitsOfARecorder) {
  DnsAnswer answer{.host = "a.test", .type = 1, .addresses = {"192.0.2.1"}, .ttl_s = 20};
  answer.chain.assign(dns::LookUpAnswer::kChainMax + 1, "cdn.test");
  answer.https.assign(1000, dns::encode_svcb({.priority = 1}).value());
  archive_.add(std::move(answer));
  add_response_of("a.test");
  add_connection_to("a.test");
  auto const hosts = recorded_hosts(archive_.reader(), 1);
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_THAT(hosts[0].chain, IsEmpty());
  EXPECT_THAT(hosts[0].https, SizeIs(dns::LookUpAnswer::kRecordsMax));
}

}  // namespace
}  // namespace reprise
