// The resolver against our own stub, and against servers that are slow, dead, old or lie.

#include "dns/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <fstream>
#include <set>

#include "dns/error.h"
#include "dns/server.h"
#include "tests/dns/scripted_server.h"

namespace reprise::dns {
namespace {

namespace net = boost::asio;
using net::ip::make_address_v4;
using net::ip::udp;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Texts = std::vector<std::string>;
using Replies = std::vector<Octets>;

class ResolverTest : public testing::Test {
 protected:
  ResolverTest() {
    hosts_file_ = testing::TempDir() + "reprise_hosts." + std::to_string(::getpid());
    write_hosts("");
    options_.hosts_file = hosts_file_;
    options_.try_timeout = std::chrono::seconds(60);
    options_.deadline = std::chrono::seconds(60);
    options_.other_family = std::chrono::seconds(60);
    options_.now = [this] { return now_; };
    options_.on_answer = [this](const LookUpAnswer& answer) { answers_.push_back(answer); };
  }
  ~ResolverTest() override { std::filesystem::remove(hosts_file_); }

  /// For servers that are silent.
  void limit_tries() {
    options_.try_timeout = std::chrono::milliseconds(250);  // the least that c-ares keeps to
    options_.deadline = std::chrono::milliseconds(3000);
  }

  void write_hosts(const std::string& text) {
    std::ofstream(hosts_file_) << text;
    // Two writes within one tick of the file system's clock would look the same.
    std::filesystem::last_write_time(
        hosts_file_, std::filesystem::file_time_type(std::chrono::hours(++writes_)));
  }

  void make_resolver() {
    auto made = Resolver::create(context_, options_);
    ASSERT_TRUE(made) << made.error().message();
    resolver_ = std::move(*made);
  }

  /// Begins a look-up; its outcome is there once the context has run.
  void begin(const char* host, std::optional<Result<LookUp>>& outcome, Ticket& ticket) {
    ++looking_up_;
    net::co_spawn(context_, run_look_up(host, outcome, ticket), [](std::exception_ptr broken) {
      if (broken) std::rethrow_exception(broken);
    });
  }
  /// Begins one that nobody answers; its outcome is in outcome_of_last_.
  void begin_in_vain() {
    use(silence);
    begin("a.example", outcome_of_last_, ticket_of_last_);
  }
  net::awaitable<void> run_look_up(const char* host, std::optional<Result<LookUp>>& outcome,
                                   Ticket& ticket) {
    outcome = co_await resolver_->look_up(host, ticket);
    if (--looking_up_ == 0) context_.stop();
  }
  Result<LookUp> look_up(const char* host) {
    std::optional<Result<LookUp>> outcome;
    Ticket ticket;
    begin(host, outcome, ticket);
    context_.restart();
    context_.run();
    return std::move(*outcome);
  }
  Texts addresses(const char* host) {
    auto const found = look_up(host);
    if (!found) return {found.error().message()};
    Texts texts;
    for (const auto& address : found->addresses) texts.push_back(address.to_string());
    return texts;
  }

  void use_stub() {
    Zone zone{.entries = {{.host = "www.example",
                           .v4 = {make_address_v4("192.0.2.1")},
                           .v6 = {net::ip::make_address_v6("2001:db8::1")},
                           .chain = {"cdn.example"},
                           .ttl_s = 30,
                           .https = {{.priority = 1, .params = {{1, "\2h2"}}}}},
                          {.host = "four.example", .v4 = {make_address_v4("192.0.2.4")}},
                          {.host = "many.example"}}};
    for (std::uint32_t i = 0; i < 60; ++i) zone.entries[2].v4.push_back(net::ip::address_v4(i + 1));
    for (std::uint32_t i = 0; i < 100; ++i) {
      zone.entries[2].v4.push_back(net::ip::address_v4(0x0a000000 + i));
    }
    stub_responder_.emplace(zone, Responder::Options{.chains = true});
    stub_.emplace(context_, *stub_responder_, Server::Options{});
    options_.servers = {stub_->listen({net::ip::address_v4::loopback(), 0}).value()};
    make_resolver();
  }
  ScriptedServer& use(ScriptedServer::Script script) {
    auto& server =
        scripted_.emplace_back(std::make_unique<ScriptedServer>(context_, std::move(script)));
    options_.servers.push_back(server->at());
    make_resolver();
    return *server;
  }

  /// A server's answer to A questions, 192.0.2.`last`; nothing for other types.
  static Octets honest(const Message& query, std::uint8_t last = 7) {
    auto reply = ScriptedServer::reply_to(query);
    if (query.questions[0].type == Type::kA) {
      reply.answers = {
          {.name = query.questions[0].name, .ttl_s = 10, .data = A{{192, 0, 2, last}}}};
    }
    return encoded(reply);
  }
  static Replies silence(const Message&) { return {}; }

  std::string hosts_file_;
  int writes_ = 0;
  // Of a look-up that may go down with the context.
  std::optional<Result<LookUp>> outcome_of_last_;
  Ticket ticket_of_last_;
  net::io_context context_{1};
  Resolver::Clock::time_point now_{std::chrono::hours(1)};
  std::vector<LookUpAnswer> answers_;
  std::optional<Responder> stub_responder_;
  std::optional<Server> stub_;
  std::vector<std::unique_ptr<ScriptedServer>> scripted_;
  Resolver::Options options_;
  std::unique_ptr<Resolver> resolver_;
  int looking_up_ = 0;
};

TEST_F(ResolverTest, FindsAddressesOfBothFamilies) {
  use_stub();
  EXPECT_THAT(addresses("WWW.Example."), ElementsAre("2001:db8::1", "192.0.2.1"));
  EXPECT_THAT(addresses("four.example"), ElementsAre("192.0.2.4"));
}

TEST_F(ResolverTest, TellsWhatTheServersSaid) {
  use_stub();
  auto const found = look_up("www.example");
  ASSERT_TRUE(found && found->a && found->aaaa);
  EXPECT_THAT(found->a->chain, ElementsAre("cdn.example"));
  EXPECT_EQ(found->a->ttl_s, 30u);
  EXPECT_EQ(found->a->rcode, Rcode::kNoError);
  EXPECT_EQ(found->a->asked, now_);
  auto const again = look_up("www.example");
  ASSERT_TRUE(again->https);
  EXPECT_THAT(again->https->https, SizeIs(1));
  EXPECT_THAT(answers_, SizeIs(3));
}

TEST_F(ResolverTest, GoesOverToTcpWhenAnAnswerIsCut) {
  use_stub();
  EXPECT_THAT(addresses("many.example"), SizeIs(LookUpAnswer::kRecordsMax));
  EXPECT_EQ(stub_responder_->counts().truncated, 1u);
}

TEST_F(ResolverTest, TakesAnAnswerOfTheSizeThatItOffersWithoutTcp) {
  constexpr std::size_t kMany = 40;  // 640 bytes of records; the server has no TCP
  use([](const Message& query) {
    auto reply = decode(honest(query)).value();
    if (!reply.answers.empty()) reply.answers.resize(kMany, reply.answers[0]);
    return Replies{encoded(reply)};
  });
  EXPECT_THAT(addresses("a.example"), SizeIs(kMany));
}

TEST_F(ResolverTest, SaysThatANameDoesNotExist) {
  use_stub();
  EXPECT_EQ(look_up("nowhere.example").error(), errc::no_such_name);
}

TEST_F(ResolverTest, AsksOnceForWhatItKnowsUntilThatExpires) {
  use_stub();
  addresses("four.example");
  addresses("four.example");
  context_.restart();
  context_.poll();
  EXPECT_EQ(stub_responder_->counts().queries, 3u);
  now_ += std::chrono::seconds(Responder::kTtlSeconds);
  addresses("four.example");
  EXPECT_GT(stub_responder_->counts().queries, 3u);
}

TEST_F(ResolverTest, AsksOnceForManyAtTheSameTime) {
  auto& server = use([](const Message& query) { return Replies{honest(query)}; });
  std::array<std::optional<Result<LookUp>>, 20> outcomes;
  std::array<Ticket, 20> tickets;
  for (std::size_t i = 0; i < outcomes.size(); ++i) begin("a.example", outcomes[i], tickets[i]);
  context_.run();
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome && *outcome);
  EXPECT_LE(server.queries().size(), 3u);
}

TEST_F(ResolverTest, LooksSeveralNamesUpAtTheSameTime) {
  use([](const Message& query) { return Replies{honest(query)}; });
  std::array<std::optional<Result<LookUp>>, 3> outcomes;
  std::array<Ticket, 3> tickets;
  begin("a.example", outcomes[0], tickets[0]);
  begin("b.example", outcomes[1], tickets[1]);
  begin("c.example", outcomes[2], tickets[2]);
  context_.run();
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome && *outcome);
}

TEST_F(ResolverTest, GivesEveryQueryAnotherId) {
  auto& server = use([](const Message& query) { return Replies{honest(query)}; });
  std::set<std::uint16_t> ids;
  for (const char* const host : {"a.example", "b.example", "c.example", "d.example"}) {
    addresses(host);
  }
  for (const auto& query : server.queries()) ids.insert(query.id);
  EXPECT_GE(ids.size(), 8u);  // of 8 to 12, one clash in a thousand runs aside
}

TEST_F(ResolverTest, AsksTheNextServerWhenOneIsDead) {
  limit_tries();
  use(silence);
  use([](const Message& query) { return Replies{honest(query)}; });
  EXPECT_THAT(addresses("a.example"), ElementsAre("192.0.2.7"));
}

TEST_F(ResolverTest, AsksTheNextServerWhenOneFails) {
  use(ScriptedServer::failing(Rcode::kServFail));
  use([](const Message& query) { return Replies{honest(query)}; });
  EXPECT_THAT(addresses("a.example"), ElementsAre("192.0.2.7"));
}

TEST_F(ResolverTest, KeepsTheCodeWhenAllServersFail) {
  for (auto const code : {Rcode::kServFail, Rcode::kNotImp, Rcode::kRefused}) {
    options_.servers.clear();
    use(ScriptedServer::failing(code));
    use(ScriptedServer::failing(code));
    EXPECT_EQ(look_up("a.example").error(), errc::refused);
    EXPECT_EQ(answers_.back().rcode, code);
  }
}

TEST_F(ResolverTest, SaysThatNoServerCanBeReached) {
  use(silence).close();
  EXPECT_EQ(look_up("a.example").error(), errc::unreachable);
}

TEST_F(ResolverTest, GivesUpWhenAllServersAreDead) {
  limit_tries();
  use(silence);
  EXPECT_EQ(look_up("a.example").error(), errc::timed_out);
}

TEST_F(ResolverTest, GivesUpAtItsDeadline) {
  options_.deadline = std::chrono::milliseconds(50);
  use(silence);
  EXPECT_EQ(look_up("a.example").error(), errc::timed_out);
}

TEST_F(ResolverTest, DoesNotWaitLongForTheOtherFamily) {
  options_.other_family = Resolver::Options().other_family;
  use([](const Message& query) {
    return query.questions[0].type == Type::kA ? Replies{honest(query)} : Replies();
  });
  EXPECT_THAT(addresses("a.example"), ElementsAre("192.0.2.7"));
}

TEST_F(ResolverTest, GivesUpWhatNobodyWaitsFor) {
  options_.try_timeout = std::chrono::hours(1);
  options_.unwaited = std::chrono::milliseconds(1);
  auto& server = use([](const Message& query) {
    return query.questions[0].type == Type::kHttps ? Replies() : Replies{honest(query)};
  });
  EXPECT_THAT(addresses("a.example"), ElementsAre("192.0.2.7"));
  EXPECT_THAT(answers_, SizeIs(2));
  server.close();
  context_.restart();
  context_.run_for(std::chrono::seconds(120));
  EXPECT_TRUE(context_.stopped()) << "a question is still open";
  EXPECT_THAT(answers_, SizeIs(2));
}

TEST_F(ResolverTest, BelievesNoLies) {
  use([](const Message& query) {
    auto other_id = query;
    other_id.id ^= 1;
    auto other_question = query;
    other_question.questions[0].name = name_of("evil.example");
    auto other_type = query;
    other_type.questions[0].type = Type::kTxt;
    return Replies{honest(other_id, 66), honest(other_question, 66),
                   encoded(ScriptedServer::reply_to(other_type)), Octets{1, 2, 3}, honest(query)};
  });
  EXPECT_THAT(addresses("a.example"), ElementsAre("192.0.2.7"));
}

TEST_F(ResolverTest, SaysWhenAResponseIsNoMessage) {
  use([](const Message& query) {
    auto reply = honest(query);
    reply.push_back(0);
    return Replies{reply};
  });
  EXPECT_EQ(look_up("a.example").error(), errc::trailing_bytes);
}

TEST_F(ResolverTest, AsksAnOldServerWithoutEdns) {
  auto& server = use([](const Message& query) {
    if (!query.edns) return Replies{honest(query)};
    auto reply = ScriptedServer::reply_to(query);
    reply.rcode = Rcode::kFormErr;
    return Replies{encoded(reply)};
  });
  EXPECT_THAT(addresses("a.example"), ElementsAre("192.0.2.7"));
  EXPECT_GE(server.queries().size(), 4u);
}

TEST_F(ResolverTest, TakesTheWordOfAServerThatNeverUnderstands) {
  use([](const Message& query) {
    auto reply = ScriptedServer::reply_to(query);
    reply.rcode = Rcode::kFormErr;
    reply.edns = query.edns;
    return Replies{encoded(reply)};
  });
  EXPECT_EQ(look_up("a.example").error(), errc::refused);
}

TEST_F(ResolverTest, TakesLiteralsForThemselves) {
  auto& server = use(silence);
  EXPECT_THAT(addresses("192.0.2.9"), ElementsAre("192.0.2.9"));
  EXPECT_THAT(addresses("[2001:db8::9]"), ElementsAre("2001:db8::9"));
  EXPECT_THAT(server.queries(), IsEmpty());
}

TEST_F(ResolverTest, HonoursTheHostsFile) {
  auto& server = use(silence);
  write_hosts("192.0.2.8 My.Example\n2001:db8::8 my.example\nnonsense\n");
  EXPECT_THAT(addresses("my.example"), ElementsAre("2001:db8::8", "192.0.2.8"));
  write_hosts("192.0.2.88 my.example localhost\n");
  EXPECT_THAT(addresses("my.example"), ElementsAre("192.0.2.88"));
  EXPECT_THAT(addresses("localhost"), ElementsAre("192.0.2.88"));
  EXPECT_THAT(server.queries(), IsEmpty());
}

TEST_F(ResolverTest, KnowsLocalhostWithoutAFile) {
  options_.hosts_file = "/nonexistent";
  auto& server = use(silence);
  EXPECT_THAT(addresses("localhost"), ElementsAre("::1", "127.0.0.1"));
  EXPECT_THAT(addresses("a.LOCALHOST"), ElementsAre("::1", "127.0.0.1"));
  EXPECT_THAT(server.queries(), IsEmpty());
}

TEST_F(ResolverTest, RefusesWhatIsNoName) {
  use(silence);
  EXPECT_EQ(look_up("a b").error(), errc::bad_name);
  EXPECT_EQ(look_up("").error(), errc::bad_name);
}

TEST_F(ResolverTest, NeverAsksOurOwnStub) {
  auto& own = use([](const Message& query) { return Replies{honest(query, 66)}; });
  options_.own = {own.at()};
  auto const alone = Resolver::create(context_, options_);
  EXPECT_EQ(alone.error(), errc::no_servers);
  use([](const Message& query) { return Replies{honest(query)}; });
  EXPECT_THAT(addresses("a.example"), ElementsAre("192.0.2.7"));
  EXPECT_THAT(own.queries(), IsEmpty());
}

TEST_F(ResolverTest, TakesAnOwnStubOnAnyAddressForAllOfLoopback) {
  options_.servers = {{make_address_v4("127.0.0.53"), 53}};
  options_.own = {{make_address_v4("0.0.0.0"), 53}};
  EXPECT_EQ(Resolver::create(context_, options_).error(), errc::no_servers);
}

TEST_F(ResolverTest, CanBeCancelled) {
  begin_in_vain();
  net::post(context_, [&] { ticket_of_last_.cancel(); });
  context_.run();
  EXPECT_EQ(outcome_of_last_->error(), errc::stopped);
  EXPECT_TRUE(ticket_of_last_.cancelled());
}

TEST_F(ResolverTest, MayGoAwayWithLookUpsUnderWay) {
  begin_in_vain();
  net::post(context_, [&] { resolver_.reset(); });
  context_.run();
  EXPECT_EQ(outcome_of_last_->error(), errc::stopped);
}

TEST_F(ResolverTest, MayGoAwayWithItsContext) {
  begin_in_vain();
  context_.poll();
  EXPECT_FALSE(outcome_of_last_.has_value());
}

}  // namespace
}  // namespace reprise::dns
