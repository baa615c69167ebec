#include "dns/look_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dns/answer_cache.h"
#include "dns/error.h"
#include "tests/dns/message_text.h"

namespace reprise::dns {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Record cname(const char* owner, const char* target, std::uint32_t ttl_s) {
  return {.name = name_of(owner),
          .type = Type::kCname,
          .ttl_s = ttl_s,
          .data = Target{name_of(target)}};
}
Record a(const char* owner, std::uint8_t last, std::uint32_t ttl_s) {
  return {.name = name_of(owner), .ttl_s = ttl_s, .data = A{{192, 0, 2, last}}};
}
Record soa(std::uint32_t ttl_s, std::uint32_t minimum_s) {
  return {.name = name_of("example"),
          .type = Type::kSoa,
          .ttl_s = ttl_s,
          .data = Soa{.minimum_s = minimum_s}};
}

LookUpAnswer read(const Message& response, Type type = Type::kA) {
  LookUpAnswer answer{.host = "www.example", .type = type};
  read_response(response, answer);
  return answer;
}

TEST(LookUp, FollowsTheChainToTheAddresses) {
  auto const answer =
      read({.answers = {a("edge.example", 1, 60), cname("WWW.example", "Cdn.Example", 300),
                        cname("cdn.example", "edge.example", 20), a("edge.example", 2, 60),
                        a("other.example", 3, 5)}});
  EXPECT_FALSE(answer.error);
  EXPECT_THAT(answer.chain, ElementsAre("cdn.example", "edge.example"));
  ASSERT_THAT(answer.addresses, SizeIs(2));
  EXPECT_EQ(answer.addresses[1].to_string(), "192.0.2.2");
  EXPECT_EQ(answer.ttl_s, 20u);
}

TEST(LookUp, TakesNoRecordsOfOtherNames) {
  auto const answer = read({.answers = {a("evil.example", 6, 60)}});
  EXPECT_THAT(answer.addresses, IsEmpty());
  EXPECT_EQ(answer.error, errc::no_address);
}

TEST(LookUp, EndsInAChainThatLeadsInACircle) {
  auto const answer = read(
      {.answers = {cname("www.example", "b.example", 1), cname("b.example", "www.example", 1)}});
  EXPECT_THAT(answer.chain, SizeIs(LookUpAnswer::kChainMax));
  EXPECT_EQ(answer.error, errc::no_address);
}

TEST(LookUp, TakesAtMostSixtyFourRecords) {
  Message response;
  for (int i = 0; i < 100; ++i) {
    response.answers.push_back(a("www.example", static_cast<std::uint8_t>(i), 60));
  }
  EXPECT_THAT(read(response).addresses, SizeIs(LookUpAnswer::kRecordsMax));
}

TEST(LookUp, KnowsHowLongAFailureHolds) {
  auto const missing = read({.rcode = Rcode::kNxDomain, .authorities = {soa(100, 40)}});
  EXPECT_EQ(missing.error, errc::no_such_name);
  EXPECT_EQ(missing.rcode, Rcode::kNxDomain);
  EXPECT_EQ(missing.ttl_s, 40u);
  EXPECT_EQ(read({.authorities = {soa(100'000, 100'000)}}).ttl_s, 300u);
  EXPECT_EQ(read({}).ttl_s, 0u);
}

TEST(LookUp, TakesATtlOverThirtyOneBitsForZero) {
  EXPECT_EQ(read({.answers = {a("www.example", 1, 0x80000000u)}}).ttl_s, 0u);
  EXPECT_EQ(read({.answers = {a("www.example", 1, 0x7fffffffu)}}).ttl_s, 24u * 3600);
}

TEST(LookUp, SaysWhenTheServerRefused) {
  auto const answer = read({.rcode = Rcode::kRefused});
  EXPECT_EQ(answer.error, errc::refused);
  EXPECT_EQ(answer.ttl_s, 0u);
}

TEST(LookUp, ReadsHttpsRecords) {
  Svcb const https{.priority = 1, .params = {{1, "\2h2"}}};
  auto const answer = read(
      {.answers =
           {{.name = name_of("www.example"), .type = Type::kHttps, .ttl_s = 9, .data = https}}},
      Type::kHttps);
  EXPECT_THAT(answer.https, ElementsAre(https));
  EXPECT_EQ(answer.ttl_s, 9u);
}

class Cache : public testing::Test {
 protected:
  void put(const char* host, int expires_s) {
    cache_.put(std::make_shared<LookUpAnswer>(LookUpAnswer{.host = host}), at(expires_s));
  }
  bool has(const char* host, int now_s) {
    return cache_.find(host, Type::kA, at(now_s)) != nullptr;
  }
  static AnswerCache::Time at(int seconds) {
    return AnswerCache::Time(std::chrono::seconds(seconds));
  }
  AnswerCache cache_{3};
};

TEST_F(Cache, KeepsAnAnswerUntilItExpires) {
  put("a", 10);
  EXPECT_TRUE(has("a", 9));
  EXPECT_EQ(cache_.find("a", Type::kAaaa, at(1)), nullptr);
  EXPECT_FALSE(has("a", 10));
  EXPECT_EQ(cache_.size(), 0u);
}

TEST_F(Cache, MakesRoomByWhatExpiresFirst) {
  put("a", 30);
  put("b", 10);
  put("c", 20);
  put("d", 10);
  EXPECT_FALSE(has("b", 0));
  EXPECT_TRUE(has("a", 0) && has("c", 0) && has("d", 0));
}

TEST_F(Cache, KeepsTheLaterOfTwoAnswers) {
  put("a", 10);
  put("a", 20);
  EXPECT_EQ(cache_.size(), 1u);
  EXPECT_TRUE(has("a", 15));
}

}  // namespace
}  // namespace reprise::dns
