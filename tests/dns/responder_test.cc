#include "dns/responder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "dns/svcb.h"
#include "tests/dns/message_text.h"

namespace reprise::dns {
namespace {

namespace ip = boost::asio::ip;
using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

Zone site() {
  Svcb const https{.priority = 1, .params = {{kSvcAlpn, alpn_value({"h2"})}}};
  ZoneEntry const www{.host = "www.example.org",
                      .v4 = {ip::make_address_v4("127.18.0.1"), ip::make_address_v4("127.18.0.2")},
                      .chain = {"cdn.example.net", "edge.example.net"},
                      .ttl_s = 20,
                      .https = {https}};
  ZoneEntry const six{.host = "six.example",
                      .v4 = {ip::make_address_v4("127.0.0.9")},
                      .v6 = {ip::make_address_v6("2001:db8::9")}};
  ZoneEntry many{.host = "many.example"};
  for (std::uint32_t i = 0; i < 100; ++i) many.v4.push_back(ip::address_v4(0x7f120000 + i));
  return {.entries = {www, six, many}};
}

class ResponderTest : public testing::Test {
 protected:
  static Message query(std::string_view name, Type type = Type::kA) {
    Message message;
    message.id = 0x4321;
    message.recursion_desired = true;
    message.questions = {{.name = name_of(name), .type = type}};
    return message;
  }

  Octets raw_answer(const Octets& bytes, Responder::Transport transport = Transport::kUdp) {
    Octets out(kMessageMax);
    auto const [size, delay] = responder_.respond(bytes, transport, out);
    out.resize(size);
    delay_ = delay;
    return out;
  }

  Message answer(const Message& asked, Responder::Transport transport = Transport::kUdp) {
    auto const bytes = raw_answer(encoded(asked), transport);
    auto const message = decode(bytes);
    EXPECT_TRUE(message) << to_hex(bytes);
    return message.value_or(Message{});
  }

  std::chrono::nanoseconds delay_of(std::string_view name, Type type = Type::kA) {
    answer(query(name, type));
    return delay_;
  }

  void use(const Zone& zone, const Responder::Options& options = {}) {
    responder_ = Responder(zone, options);
  }

  static std::vector<std::string> addresses(const Message& message) {
    std::vector<std::string> texts;
    for (const auto& record : message.answers) {
      if (auto const* const a = std::get_if<A>(&record.data)) {
        texts.push_back(ip::address_v4(a->address).to_string());
      } else if (auto const* const aaaa = std::get_if<Aaaa>(&record.data)) {
        texts.push_back(ip::address_v6(aaaa->address).to_string());
      } else {
        texts.push_back(std::get<Target>(record.data).name.text());
      }
    }
    return texts;
  }

  void expect_empty(const Message& reply, Rcode rcode = Rcode::kNoError) {
    EXPECT_EQ(reply.rcode, rcode);
    EXPECT_THAT(reply.answers, IsEmpty());
    ASSERT_THAT(reply.authorities, SizeIs(1));
    EXPECT_EQ(reply.authorities[0].type, Type::kSoa);
  }

  using Transport = Responder::Transport;
  Responder responder_{site(), {}};
  std::chrono::nanoseconds delay_{};  // of the last answer
};

TEST_F(ResponderTest, GivesTheAddressesOfAName) {
  auto const reply = answer(query("www.example.org"));
  EXPECT_EQ(reply.id, 0x4321);
  EXPECT_TRUE(reply.response && reply.authoritative && reply.recursion_available);
  EXPECT_TRUE(reply.recursion_desired);
  EXPECT_EQ(reply.rcode, Rcode::kNoError);
  EXPECT_THAT(addresses(reply), ElementsAre("127.18.0.1", "127.18.0.2"));
  EXPECT_EQ(reply.answers[0].ttl_s, Responder::kTtlSeconds);
  EXPECT_EQ(reply.edns, std::nullopt);
}

TEST_F(ResponderTest, SaysHowLongAnAnswerOfEachTypeWaits) {
  auto zone = site();
  zone.entries[0].delay = {.a = milliseconds(80), .aaaa = milliseconds(20), .https = minutes(1)};
  use(zone);
  EXPECT_EQ(delay_of("www.example.org"), milliseconds(80));
  EXPECT_EQ(delay_of("www.example.org", Type::kAaaa), milliseconds(20));
  EXPECT_EQ(delay_of("www.example.org", Type::kHttps), minutes(1));
  EXPECT_EQ(delay_of("www.example.org", Type::kTxt), milliseconds(20));
  EXPECT_EQ(delay_of("edge.example.net"), milliseconds(80));
  EXPECT_EQ(delay_of("six.example"), milliseconds(0));
  EXPECT_EQ(delay_of("nowhere.example"), milliseconds(0));
}

TEST_F(ResponderTest, SaysHowLongAnswersAboutOtherNamesWait) {
  auto zone = site();
  zone.entries[0].delay.a = milliseconds(80);
  zone.other_delays.all = milliseconds(30);
  zone.other_delays.by_name["Lost.example"] = {.a = milliseconds(70)};
  zone.other_delays.by_name["www.example.org"] = {.a = milliseconds(7)};
  for (bool const has_catch_all : {false, true}) {
    if (has_catch_all) zone.catch_all = ip::make_address_v4("127.19.0.1");
    use(zone);
    EXPECT_EQ(delay_of("nowhere.example"), milliseconds(30));
    EXPECT_EQ(delay_of("nowhere.example", Type::kHttps), milliseconds(30));
    EXPECT_EQ(delay_of("lost.example"), milliseconds(70));
    EXPECT_EQ(delay_of("lost.example", Type::kAaaa), milliseconds(0));
    EXPECT_EQ(delay_of("example.org"), milliseconds(30));  // above a name
    EXPECT_EQ(delay_of("localhost"), milliseconds(30));
    EXPECT_EQ(delay_of("www.example.org"), milliseconds(80));
  }
}

TEST_F(ResponderTest, CountsARepliedQueryAsDroppedIfItsReplyWas) {
  answer(query("www.example.org"));
  answer(query("www.example.org"));
  responder_.reply_was_dropped();
  EXPECT_EQ(responder_.counts().queries, 1u);
  EXPECT_EQ(responder_.counts().dropped, 1u);
}

TEST_F(ResponderTest, KeepsTheCaseOfTheQuestion) {
  auto const reply = answer(query("wWw.eXample.ORG"));
  EXPECT_EQ(reply.questions[0].name.text(), "wWw.eXample.ORG");
  EXPECT_EQ(reply.answers[0].name.text(), "wWw.eXample.ORG");
}

TEST_F(ResponderTest, HasNoAaaaForAnIpv4Name) {
  expect_empty(answer(query("www.example.org", Type::kAaaa)));
  EXPECT_THAT(addresses(answer(query("six.example", Type::kAaaa))), ElementsAre("2001:db8::9"));
}

TEST_F(ResponderTest, GivesHttpsRecordsWhereThereAreSome) {
  auto const reply = answer(query("www.example.org", Type::kHttps));
  ASSERT_THAT(reply.answers, SizeIs(1));
  EXPECT_THAT(*alpn_of(std::get<Svcb>(reply.answers[0].data)), ElementsAre("h2"));
  expect_empty(answer(query("six.example", Type::kHttps)));
}

TEST_F(ResponderTest, HasNothingOfOtherTypes) {
  for (auto const type : {Type::kTxt, Type::kMx, Type::kAny, Type::kSvcb, Type{12345}}) {
    expect_empty(answer(query("www.example.org", type)));
  }
}

TEST_F(ResponderTest, SaysThatAnUnknownNameDoesNotExist) {
  expect_empty(answer(query("Nowhere.example")), Rcode::kNxDomain);
  expect_empty(answer(query("nowhere.example", Type::kHttps)), Rcode::kNxDomain);
  EXPECT_EQ(responder_.counts().missing, 2u);
  EXPECT_THAT(responder_.counts().missing_names, ElementsAre(Pair("nowhere.example", 2u)));
}

TEST_F(ResponderTest, KnowsThatWhatIsAboveANameExists) {
  for (const char* const name : {"example.org", "org", "Example", "."}) {
    expect_empty(answer(query(name)));
  }
  EXPECT_EQ(responder_.counts().missing, 0u);
  auto zone = site();
  zone.entries = {{.host = "a.localhost", .v4 = {ip::make_address_v4("192.0.2.9")}}};
  use(zone);
  EXPECT_THAT(addresses(answer(query("a.localhost"))), ElementsAre("192.0.2.9"));
  EXPECT_THAT(addresses(answer(query("localhost"))), ElementsAre("127.0.0.1"));
}

TEST_F(ResponderTest, KnowsAllThatIsAboveADeepName) {
  std::string deep = "deep.example";
  while (deep.size() < 240) deep.insert(0, "a.");
  use({.entries = {{.host = deep}, {.host = "b.example"}}});
  for (auto name = deep; !name.empty();) {
    expect_empty(answer(query(name)));
    name.erase(0, std::min(name.find('.'), name.size() - 1) + 1);
  }
  expect_empty(answer(query("b." + deep.substr(2))), Rcode::kNxDomain);
  expect_empty(answer(query("a.example")), Rcode::kNxDomain);
  expect_empty(answer(query("c.example")), Rcode::kNxDomain);
  expect_empty(answer(query("a.b.example")), Rcode::kNxDomain);
}

TEST_F(ResponderTest, TakesOnlyWholeLabelsAsWhatIsAboveAName) {
  use({.entries = {{.host = "www.x\\003org"}, {.host = "www.example"}}});
  expect_empty(answer(query("x\\003org")));
  for (const char* const name : {"org", "w.example", "ww.example", "exampl", "ample"}) {
    expect_empty(answer(query(name)), Rcode::kNxDomain);
  }
}

TEST_F(ResponderTest, KnowsNothingWithoutNames) {
  use({});
  expect_empty(answer(query(".")), Rcode::kNxDomain);
  expect_empty(answer(query("example")), Rcode::kNxDomain);
}

TEST_F(ResponderTest, LeadsUnknownNamesToTheCatchAll) {
  auto zone = site();
  zone.catch_all = ip::make_address_v4("127.19.0.1");
  use(zone);
  EXPECT_THAT(addresses(answer(query("nowhere.example"))), ElementsAre("127.19.0.1"));
  EXPECT_THAT(addresses(answer(query("example.org"))), ElementsAre("127.19.0.1"));
  expect_empty(answer(query("nowhere.example", Type::kAaaa)));
  EXPECT_THAT(addresses(answer(query("localhost"))), ElementsAre("127.0.0.1"));
  EXPECT_EQ(responder_.counts().missing, 0u);
}

TEST_F(ResponderTest, LeadsUnknownNamesToACatchAllOfIpv6) {
  auto zone = site();
  zone.catch_all = ip::make_address("2001:db8::7");
  use(zone);
  EXPECT_THAT(addresses(answer(query("nowhere.example", Type::kAaaa))), ElementsAre("2001:db8::7"));
  expect_empty(answer(query("nowhere.example")));
  EXPECT_EQ(responder_.counts().missing, 0u);
}

TEST_F(ResponderTest, KnowsLocalhost) {
  EXPECT_THAT(addresses(answer(query("LocalHost"))), ElementsAre("127.0.0.1"));
  EXPECT_THAT(addresses(answer(query("a.localhost", Type::kAaaa))), ElementsAre("::1"));
  expect_empty(answer(query("notlocalhost")), Rcode::kNxDomain);
}

TEST_F(ResponderTest, GivesTheRecordedChainAndTtlWhenAsked) {
  use(site(), {.chains = true});
  auto const reply = answer(query("www.example.org"));
  EXPECT_THAT(addresses(reply),
              ElementsAre("cdn.example.net", "edge.example.net", "127.18.0.1", "127.18.0.2"));
  EXPECT_EQ(reply.answers[1].name.text(), "cdn.example.net");
  EXPECT_EQ(reply.answers[3].name.text(), "edge.example.net");
  EXPECT_EQ(reply.answers[3].ttl_s, 20u);
  EXPECT_THAT(addresses(answer(query("cdn.example.net"))),
              ElementsAre("edge.example.net", "127.18.0.1", "127.18.0.2"));
  EXPECT_THAT(addresses(answer(query("www.example.org", Type::kCname))),
              ElementsAre("cdn.example.net"));
  auto const none = answer(query("www.example.org", Type::kAaaa));
  EXPECT_THAT(addresses(none), ElementsAre("cdn.example.net", "edge.example.net"));
  EXPECT_THAT(none.authorities, SizeIs(1));
}

TEST_F(ResponderTest, LeavesTheChainOutOtherwise) {
  EXPECT_THAT(addresses(answer(query("edge.example.net"))),
              ElementsAre("127.18.0.1", "127.18.0.2"));
  expect_empty(answer(query("www.example.org", Type::kCname)));
}

TEST_F(ResponderTest, KeepsALongChainOnce) {
  ZoneEntry host{.host = "a.example", .v4 = {ip::make_address_v4("127.18.0.1")}};
  for (int i = 0; i < 20'000; ++i) host.chain.push_back("link" + std::to_string(i) + ".example");
  for (bool const chains : {false, true}) {
    use({.entries = {host}}, {.chains = chains});
    EXPECT_THAT(addresses(answer(query("link19999.example"))), ElementsAre("127.18.0.1"));
  }
  EXPECT_THAT(addresses(answer(query("link19998.example"))),
              ElementsAre("link19999.example", "127.18.0.1"));
}

TEST_F(ResponderTest, CutsWhatIsTooLongForUdpAndGivesItOverTcp) {
  auto const cut = raw_answer(encoded(query("many.example")));
  EXPECT_LE(cut.size(), Responder::kUdpMin);
  EXPECT_TRUE(decode(cut)->truncated);
  EXPECT_THAT(decode(cut)->answers, IsEmpty());
  EXPECT_EQ(responder_.counts().truncated, 1u);
  EXPECT_THAT(answer(query("many.example"), Transport::kTcp).answers, SizeIs(100));
}

TEST_F(ResponderTest, NeverSendsMoreOverUdpThanTheClientTakesOr1232) {
  auto zone = site();
  zone.entries[2].v4.resize(60);  // some 1000 bytes
  use(zone);
  auto asked = query("many.example");
  asked.edns = Edns{.udp_size_bytes = 900};
  EXPECT_TRUE(answer(asked).truncated);
  asked.edns->udp_size_bytes = 1100;
  EXPECT_FALSE(answer(asked).truncated);
  asked.edns->udp_size_bytes = 1;  // counts as 512
  EXPECT_FALSE(answer(query("www.example.org")).truncated);
  zone.entries[2].v4.resize(100, ip::make_address_v4("127.18.9.9"));
  use(zone);
  asked.edns->udp_size_bytes = 65535;
  EXPECT_TRUE(answer(asked).truncated);
}

TEST_F(ResponderTest, SpeaksEdns) {
  auto asked = query("www.example.org");
  asked.edns = Edns{.dnssec_ok = true, .options = {{10, "cookie--"}}};
  auto const reply = answer(asked);
  ASSERT_TRUE(reply.edns);
  EXPECT_EQ(reply.edns->udp_size_bytes, Responder::kUdpMax);
  EXPECT_TRUE(reply.edns->dnssec_ok);
  EXPECT_THAT(reply.edns->options, IsEmpty());
}

TEST_F(ResponderTest, RefusesALaterEdns) {
  auto asked = query("www.example.org");
  asked.edns = Edns{.version = 1};
  auto const reply = answer(asked);
  EXPECT_EQ(reply.rcode, Rcode::kBadVers);
  EXPECT_EQ(reply.edns->version, 0);
  EXPECT_THAT(reply.answers, IsEmpty());
}

TEST_F(ResponderTest, RefusesOtherClassesAndTransfers) {
  auto chaos = query("version.bind", Type::kTxt);
  chaos.questions[0].question_class = 3;
  EXPECT_EQ(answer(chaos).rcode, Rcode::kRefused);
  EXPECT_EQ(answer(query("example.org", Type{252})).rcode, Rcode::kRefused);
  EXPECT_EQ(answer(query("example.org", Type{251}), Transport::kTcp).rcode, Rcode::kRefused);
}

TEST_F(ResponderTest, ImplementsNoOtherOpcode) {
  for (int opcode = 1; opcode < 16; ++opcode) {
    auto asked = query("www.example.org");
    asked.opcode = static_cast<Opcode>(opcode);
    auto const reply = answer(asked);
    EXPECT_EQ(reply.rcode, Rcode::kNotImp);
    EXPECT_EQ(reply.opcode, asked.opcode);
  }
}

TEST_F(ResponderTest, DropsResponsesAndWhatIsNoMessage) {
  auto asked = query("www.example.org");
  asked.response = true;
  EXPECT_THAT(raw_answer(encoded(asked)), IsEmpty());
  EXPECT_THAT(raw_answer({}), IsEmpty());
  EXPECT_THAT(raw_answer(Octets(11)), IsEmpty());
  EXPECT_EQ(responder_.counts().dropped, 3u);
}

TEST_F(ResponderTest, SaysFormErrToWhatItCannotRead) {
  auto const whole = encoded(query("www.example.org"));
  for (auto size = kHeaderBytes; size < whole.size(); ++size) {
    auto const reply = decode(raw_answer({whole.begin(), whole.begin() + static_cast<long>(size)}));
    ASSERT_TRUE(reply) << size;
    EXPECT_EQ(reply->rcode, Rcode::kFormErr) << size;
    EXPECT_EQ(reply->id, 0x4321);
    EXPECT_TRUE(reply->recursion_desired);
  }
  auto asked = query("www.example.org");
  asked.questions.push_back(asked.questions[0]);
  EXPECT_EQ(answer(asked).rcode, Rcode::kFormErr);
  asked.questions.clear();
  EXPECT_EQ(answer(asked).rcode, Rcode::kFormErr);
  asked = query("www.example.org");
  asked.answers = {{.data = A{}}};
  EXPECT_EQ(answer(asked).rcode, Rcode::kFormErr);
  EXPECT_EQ(answer(query("www.example.org", Type::kOpt)).rcode, Rcode::kFormErr);
}

TEST_F(ResponderTest, CountsByTypeAndNamesAtMostAThousandThatAreMissing) {
  for (int i = 0; i < 1500; ++i) answer(query("n" + std::to_string(i) + ".example", Type::kAaaa));
  answer(query("n7.example"));
  EXPECT_THAT(responder_.counts().by_type, ElementsAre(Pair(1, 1u), Pair(28, 1500u)));
  EXPECT_EQ(responder_.counts().missing, 1501u);
  EXPECT_THAT(responder_.counts().missing_names, SizeIs(Responder::kMissingNamesMax));
  EXPECT_EQ(responder_.counts().missing_names.at("n7.example"), 2u);
}

}  // namespace
}  // namespace reprise::dns
