#include "proxy/record/network_dialer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <list>
#include <thread>

#include "tests/dns/scripted_server.h"
#include "tests/proxy/http/loopback.h"

namespace reprise {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Replies = std::vector<dns::Octets>;

TEST(ConnectTo, HasTheMeaningOfCurl) {
  auto const rule = parse_connect_to("a.test:443:127.0.0.1:8443");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->host, "a.test");
  EXPECT_EQ(rule->port, 443);
  EXPECT_EQ(rule->to_host, "127.0.0.1");
  EXPECT_EQ(rule->to_port, 8443);

  auto const any = parse_connect_to("::[::1]:");
  ASSERT_TRUE(any);
  EXPECT_EQ(any->host, "");
  EXPECT_EQ(any->port, 0);
  EXPECT_EQ(any->to_host, "::1");
  EXPECT_EQ(any->to_port, 0);
}

TEST(ConnectTo, RefusesWhatIsIncomplete) {
  for (const char* text : {"", "a", "a:1", "a:1:b", "a:x:b:2", "a:1:b:70000", "a:1:[::1:2"}) {
    EXPECT_FALSE(parse_connect_to(text)) << text;
  }
}

/// A dialer with a DNS server of the test's.
class NetworkDialerTest : public testing::Test {
 protected:
  NetworkDialerTest() {
    options_.names.hosts_file = "/nonexistent";
    options_.names.try_timeout = std::chrono::seconds(60);
    options_.names.deadline = std::chrono::seconds(60);
    options_.names.on_answer = [this](const auto& answer) { answers_.push_back(answer); };
  }

  ~NetworkDialerTest() override { server_context_.stop(); }

  /// What begin() made a dialling of, filled in once the context has run.
  struct Begun {
    OriginDialer::Target target;
    Reach reach = Reach::kAll;
    dns::Ticket ticket;
    OriginDialer::Dialled dialled;
  };
  NetworkDialer& dialer() {
    if (!dialer_) dialer_.emplace(std::move(options_));
    return *dialer_;
  }
  void begin(Begun& begun) {
    auto& with = dialer();
    ends_.spawn([this, &begun, &with]() -> awaitable<void> {
      begun.dialled = co_await with.dial(
          begun.target, nullptr, begun.ticket, [](auto at) { return at.time_since_epoch(); },
          begun.reach);
      ended_.push_back(begun.target.host);
    });
  }
  OriginDialer::Dialled dial(const std::string& host, std::uint16_t port,
                             Reach reach = Reach::kAll) {
    Begun begun{.target = {.scheme = Scheme::kHttp, .host = host, .port = port}, .reach = reach};
    begin(begun);
    ends_.context.restart();
    ends_.run();
    return std::move(begun.dialled);
  }

  std::uint16_t listening() {
    acceptors_.emplace_back(ends_.context, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    return acceptors_.back().local_endpoint().port();
  }
  /// Nobody listens there, and nobody can begin to.
  std::uint16_t closed() {
    bound_.emplace_back(ends_.context, tcp::v4());
    bound_.back().bind({net::ip::address_v4::loopback(), 0});
    return bound_.back().local_endpoint().port();
  }

  void use(dns::ScriptedServer::Script script) {
    server_ = std::make_unique<dns::ScriptedServer>(server_context_, std::move(script));
    options_.names.servers = {server_->at()};
    server_thread_ = std::jthread([this] { server_context_.run(); });
  }
  /// What the server was asked. It answers no more.
  const std::vector<dns::Message>& asked() {
    server_context_.stop();
    server_thread_.join();
    return server_->queries();
  }
  /// Answers A questions with these addresses; nothing for other types.
  static Replies addresses(const dns::Message& query, const std::vector<dns::A>& addresses) {
    auto reply = dns::ScriptedServer::reply_to(query);
    if (query.questions[0].type == dns::Type::kA) {
      for (const auto& address : addresses) {
        reply.answers.push_back({.name = query.questions[0].name, .ttl_s = 10, .data = address});
      }
    }
    return {dns::encoded(reply)};
  }
  static Replies silence(const dns::Message&) { return {}; }

  Loopback ends_;
  NetworkDialer::Options options_;
  std::optional<NetworkDialer> dialer_;
  std::vector<dns::LookUpAnswer> answers_;
  std::vector<std::string> ended_;  // hosts, in the order in which their dialling ended
  std::list<tcp::acceptor> acceptors_;
  std::list<tcp::socket> bound_;
  // On a context of its own, so that the dialler's runs out of work when that is done.
  net::io_context server_context_{1};
  std::unique_ptr<dns::ScriptedServer> server_;
  std::jthread server_thread_;
};

TEST_F(NetworkDialerTest, ConnectsWhereTheRuleSaysWithoutLookingThatUp) {
  use(silence);
  auto const port = listening();
  options_.connect_to.push_back(
      {.host = "A.test", .port = 80, .to_host = "127.0.0.1", .to_port = port});
  auto const dialled = dial("a.test", 80);
  EXPECT_TRUE(dialled.stream) << dialled.facts.failure;
  EXPECT_EQ(dialled.facts.host, "a.test");
  EXPECT_EQ(dialled.facts.address, "127.0.0.1:" + std::to_string(port));
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(NetworkDialerTest, LooksNamesUpAndTellsWhatWasAnswered) {
  use([](const auto& query) { return addresses(query, {{{127, 0, 0, 1}}}); });
  auto const port = listening();
  auto const dialled = dial("www.example", port);
  ASSERT_TRUE(dialled.stream) << dialled.facts.failure;
  EXPECT_EQ(dialled.facts.host, "www.example");
  EXPECT_EQ(dialled.facts.address, "127.0.0.1:" + std::to_string(port));
  EXPECT_GE(dialled.facts.connect_start, dialled.facts.dns_start);
  EXPECT_GE(dialled.facts.ready, dialled.facts.connect_start);
  ASSERT_TRUE(dialled.facts.round_trip);
  EXPECT_GT(*dialled.facts.round_trip, std::chrono::nanoseconds());
  EXPECT_LE(*dialled.facts.round_trip, dialled.facts.ready - dialled.facts.connect_start);
  ASSERT_THAT(answers_, SizeIs(3));
  for (const auto& answer : answers_) {
    EXPECT_GE(answer.asked.time_since_epoch(), dialled.facts.dns_start);
    EXPECT_GE(answer.answered, answer.asked);
    EXPECT_EQ(answer.addresses.size(), answer.type == dns::Type::kA ? 1U : 0U);
  }
}

TEST_F(NetworkDialerTest, DialsPrivateAddressesOnlyForThoseWhoMayReachThem) {
  use([](const auto& query) { return addresses(query, {{{127, 0, 0, 1}}}); });
  auto const port = listening();
  auto const refused = dial("www.example", port, Reach::kPublicOnly);
  EXPECT_FALSE(refused.stream);
  EXPECT_TRUE(refused.private_refused);
  EXPECT_THAT(refused.facts.failure, AllOf(HasSubstr("www.example"), HasSubstr("--allow-private")));
  auto const allowed = dial("www.example", port);
  EXPECT_TRUE(allowed.stream) << allowed.facts.failure;
  EXPECT_TRUE(allowed.is_private);
}

TEST_F(NetworkDialerTest, DialsWhatARuleSaysWhereverThatIs) {
  auto const port = listening();
  options_.connect_to.push_back({.host = "a.test", .to_host = "127.0.0.1", .to_port = port});
  EXPECT_TRUE(dialer().has_rule({.host = "a.test", .port = 80}));
  EXPECT_FALSE(dialer().has_rule({.host = "b.test", .port = 80}));
  EXPECT_TRUE(dial("a.test", 80, Reach::kPublicOnly).stream);
}

TEST_F(NetworkDialerTest, GoesOnToTheNextAddressAndSaysWhichItTook) {
  // Whoever listens on port P of 127.0.0.1 is not met at 127.0.0.3.
  use([](const auto& query) { return addresses(query, {{{127, 0, 0, 3}}, {{127, 0, 0, 1}}}); });
  auto const port = listening();
  auto const dialled = dial("www.example", port);
  ASSERT_TRUE(dialled.stream) << dialled.facts.failure;
  EXPECT_EQ(dialled.facts.address, "127.0.0.1:" + std::to_string(port));
  EXPECT_THAT(dialled.facts.failure, IsEmpty());
}

TEST_F(NetworkDialerTest, SaysOfEachAddressThatItRefuses) {
  use([](const auto& query) { return addresses(query, {{{127, 0, 0, 3}}, {{127, 0, 0, 1}}}); });
  auto const port = closed();
  auto const at = ":" + std::to_string(port) + ": Connection refused";
  auto const dialled = dial("www.example", port);
  EXPECT_FALSE(dialled.stream);
  EXPECT_EQ(dialled.facts.failure,
            "cannot connect to www.example at 127.0.0.3" + at + "; at 127.0.0.1" + at);
  EXPECT_EQ(dialled.facts.address, "");
}

TEST_F(NetworkDialerTest, IsNotHeldUpByADeadName) {
  options_.names.deadline = std::chrono::seconds(5);
  use([](const auto& query) {
    if (query.questions[0].name == dns::name_of("dead.example")) return Replies();
    return addresses(query, {{{127, 0, 0, 1}}});
  });
  auto const port = listening();
  Begun dead{.target = {.scheme = Scheme::kHttp, .host = "dead.example", .port = port}};
  Begun alive{.target = {.scheme = Scheme::kHttp, .host = "alive.example", .port = port}};
  begin(dead);
  begin(alive);
  ends_.run();
  EXPECT_THAT(ended_, ElementsAre("alive.example", "dead.example"));
  EXPECT_TRUE(alive.dialled.stream) << alive.dialled.facts.failure;
  EXPECT_EQ(dead.dialled.facts.failure,
            "cannot look up dead.example: no DNS server answered in time; --dns-server "
            "names another server");
}

TEST_F(NetworkDialerTest, SaysThatANameDoesNotExist) {
  use([](const auto& query) {
    auto reply = dns::ScriptedServer::reply_to(query);
    reply.rcode = dns::Rcode::kNxDomain;
    return Replies{dns::encoded(reply)};
  });
  EXPECT_EQ(dial("no.example", 80).facts.failure, "cannot look up no.example: no such name");
  ASSERT_THAT(answers_, SizeIs(3));
  EXPECT_EQ(answers_[0].rcode, dns::Rcode::kNxDomain);
}

TEST_F(NetworkDialerTest, NeverAsksItsOwnStubAndSaysWhatToDo) {
  use([](const auto& query) { return addresses(query, {{{127, 0, 0, 1}}}); });
  auto const port = listening();
  options_.names.own = {server_->at()};
  auto const dialled = dial("www.example", port);
  EXPECT_FALSE(dialled.stream);
  EXPECT_THAT(dialled.facts.failure, AllOf(HasSubstr("own"), HasSubstr("--dns-server")));
  EXPECT_TRUE(dial("127.0.0.1", port).stream) << "addresses need no servers";
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(NetworkDialerTest, NeverDialsItself) {
  auto const port = listening();
  options_.own.push_back(acceptors_.back().local_endpoint());
  auto const dialled = dial("127.0.0.1", port);
  EXPECT_FALSE(dialled.stream);
  EXPECT_THAT(dialled.facts.failure, AllOf(HasSubstr("itself"), HasSubstr("--connect-to")));
}

TEST_F(NetworkDialerTest, CanBeCancelledWhileItLooksUp) {
  options_.names.try_timeout = std::chrono::hours(1);
  options_.names.deadline = std::chrono::hours(1);
  options_.names.unwaited = std::chrono::milliseconds(1);
  use(silence);
  Begun begun{.target = {.scheme = Scheme::kHttp, .host = "slow.example", .port = 80}};
  begin(begun);
  net::post(ends_.context, [&] { begun.ticket.cancel(); });
  ends_.run();
  EXPECT_FALSE(begun.dialled.stream);
  EXPECT_EQ(begun.dialled.facts.failure, "the recording was stopped");
  EXPECT_THAT(answers_, IsEmpty()) << "nobody knows what the answer would have been";
}

}  // namespace
}  // namespace reprise
