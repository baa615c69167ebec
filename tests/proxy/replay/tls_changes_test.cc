// TlsPlans with what a what-if changes of them.

#include <gmock/gmock.h>

#include "proxy/replay/replay_session.h"
#include "proxy/replay/tls_plans.h"
#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class TlsChangesTest : public testing::Test {
 protected:
  TlsChangesTest() {
    add("a.test", "h2", {"a.test", "*.a.test"});
    add("img.a.test", "h2", {"img.a.test"});
    add("b.test", "http/1.1", {"b.test"});
  }
  void add(const std::string& host, const std::string& alpn, std::vector<std::string> names) {
    archive_.add({.id = ++count_,
                  .scheme = Scheme::kHttps,
                  .host = host,
                  .port = 443,
                  .alpn = alpn,
                  .tls_version = "TLSv1.3",
                  .certificate_names = std::move(names),
                  .chain_bytes = static_cast<std::uint32_t>(1000 * count_)});
  }
  TlsPlans plans(const TlsChanges& changes, Protocol protocol = Protocol::kRecorded) {
    return {archive_.reader(), 1, protocol, changes};
  }
  RecordedArchive archive_;
  std::uint64_t count_ = 0;
};

TEST_F(TlsChangesTest, AProtocolIsOfItsHostAlone) {
  auto const made = plans({.alpn = {{"a.test", "http/1.1"}, {"b.test", "h2"}}});
  EXPECT_EQ(made.of("a.test", 443).alpn, "http/1.1");
  EXPECT_EQ(made.of("img.a.test", 443).alpn, "h2");
  EXPECT_EQ(made.of("b.test", 443).alpn, "h2");
  EXPECT_THAT(made.of("a.test", 443).names.names, ElementsAre("a.test", "*.a.test"));
}

TEST_F(TlsChangesTest, AProtocolIsNotOverruledByTheOption) {
  TlsChanges const changes{.alpn = {{"a.test", "http/1.1"}}};
  auto const made = plans(changes, Protocol::kH2);
  EXPECT_EQ(made.of("a.test", 443).alpn, "http/1.1");
  EXPECT_EQ(made.of("b.test", 443).alpn, "h2");
  auto const h1 = plans({.alpn = {{"b.test", "h2"}}}, Protocol::kH1);
  EXPECT_EQ(h1.of("b.test", 443).alpn, "h2");
  EXPECT_EQ(h1.of("a.test", 443).alpn, "http/1.1");
}

TEST_F(TlsChangesTest, Http2OfAChangedHostCarriesWebSockets) {
  EXPECT_TRUE(plans({.alpn = {{"b.test", "h2"}}}).of("b.test", 443).web_sockets);
  EXPECT_FALSE(plans({}).of("b.test", 443).web_sockets);
}

TEST_F(TlsChangesTest, CoalescedHostsHaveThePagesPlanAndTheCertificateNamesThem) {
  auto const made = plans({.page = "a.test", .coalesced = {"b.test", "img.a.test"}});
  for (auto const* const host : {"a.test", "b.test", "img.a.test"}) {
    auto const plan = made.of(host, 443);
    EXPECT_EQ(plan.alpn, "h2") << host;
    // The wildcard covers the third.
    EXPECT_THAT(plan.names.names, ElementsAre("a.test", "*.a.test", "b.test")) << host;
    EXPECT_EQ(plan.names.chain_bytes, 1000) << host;
  }
}

TEST_F(TlsChangesTest, CoalescedHostsFollowTheProtocolOfThePage) {
  auto const made =
      plans({.alpn = {{"a.test", "http/1.1"}}, .page = "a.test", .coalesced = {"img.a.test"}});
  EXPECT_EQ(made.of("img.a.test", 443).alpn, "http/1.1");
}

TEST_F(TlsChangesTest, CoalescedHostsSpeakHttp3IfThePageDoes) {
  auto const speak = [this](TlsChanges changes) {
    changes.page = "a.test";
    changes.coalesced = {"b.test"};
    return plans(changes).speaks_h3("b.test");
  };
  EXPECT_TRUE(speak({.h3 = {"a.test"}}));
  EXPECT_TRUE(speak({.h3_offers = {"a.test"}}));
  EXPECT_FALSE(speak({.h3 = {"b.test"}}));
  EXPECT_FALSE(speak({.h3_offers = {"b.test", "img.a.test"}}));
}

TEST_F(TlsChangesTest, CoalescedHostsAreLedToHttp3AsThePageIs) {
  auto const made = with_shared_h3({.page = "a.test",
                                    .coalesced = {"b.test", "c.test"},
                                    .h3 = {"a.test"},
                                    .h3_offers = {"b.test", "d.test"}});
  EXPECT_THAT(made.h3, ElementsAre("a.test", "b.test", "c.test"));
  EXPECT_THAT(made.h3_offers, ElementsAre("d.test"));
  auto const none = with_shared_h3({.page = "a.test", .coalesced = {"b.test"}, .h3 = {"b.test"}});
  EXPECT_THAT(none.h3, IsEmpty());
}

TEST_F(TlsChangesTest, NothingIsCoalescedWithAnUnknownPage) {
  auto const made = plans({.page = "nowhere.test", .coalesced = {"b.test"}});
  EXPECT_EQ(made.of("b.test", 443).alpn, "http/1.1");
  EXPECT_THAT(made.of("a.test", 443).names.names, Not(Contains("b.test")));
}

TEST_F(TlsChangesTest, Http3OfAnAddressIsThatOfTheHost) {
  add("192.0.2.1", "h2", {"192.0.2.1"});
  add("192.0.2.2", "h2", {"192.0.2.2"});
  for (auto const& changes :
       {TlsChanges{.h3 = {"192.0.2.1"}}, TlsChanges{.h3_offers = {"192.0.2.1"}}}) {
    auto const made = plans(changes);
    EXPECT_TRUE(made.unnamed_speaks_h3("192.0.2.1"));
    EXPECT_FALSE(made.unnamed_speaks_h3("192.0.2.2"));
    EXPECT_TRUE(made.unnamed_speaks_h3("127.18.0.1"));  // a stand-in, of one or the other
  }
  EXPECT_FALSE(plans({.h3 = {"a.test"}}).unnamed_speaks_h3("127.18.0.1"));
  EXPECT_TRUE(plans({.h3 = {"2001:db8::1"}}).unnamed_speaks_h3("127.18.0.1"));
  EXPECT_TRUE(plans({}, Protocol::kH3).unnamed_speaks_h3("127.18.0.1"));
}

TEST_F(TlsChangesTest, AClientWithoutAHostNameGetsTheHttp3OfItsAddress) {
  add("192.0.2.1", "h2", {"192.0.2.1", "one.test"});
  ReplaySession session(archive_.reader(), {.tls = {.h3 = {"192.0.2.1"}}});
  ConnectionInfo info;
  auto const names = [&](const std::string& local, const std::string& server_name) {
    info.local = {net::ip::make_address(local), 443};
    info.server_name = server_name;
    auto const shown = session.open(info)->plan_quic(info);
    return shown ? shown->names : std::vector<std::string>();
  };
  EXPECT_THAT(names("192.0.2.1", ""), ElementsAre("192.0.2.1", "one.test"));
  EXPECT_THAT(names("127.18.0.1", ""), ElementsAre("127.18.0.1"));
  EXPECT_THAT(names("192.0.2.1", "a.test"), IsEmpty());
}

TEST_F(TlsChangesTest, UnknownHostsAreIgnored) {
  auto const made = plans({.alpn = {{"x.test", "h2"}}, .page = "a.test", .coalesced = {"y.test"}});
  EXPECT_FALSE(made.knows("x.test"));
  EXPECT_EQ(made.of("x.test", 443).alpn, "http/1.1");
  EXPECT_FALSE(made.knows("y.test"));
}

}  // namespace
}  // namespace reprise
