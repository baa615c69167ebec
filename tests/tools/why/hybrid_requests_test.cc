// What a hybrid answers to the requests of both recordings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/web_socket.h"
#include "tests/tools/why/made_hybrid.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using whatif::a_get;
using whatif::asked_with;

Exchange a_post(std::string_view url) {
  auto made = a_get(url, "application/json");
  made.request.method = "POST";
  return made;
}

Exchange a_part(std::string_view url, std::string_view range) {
  auto made = asked_with(a_get(url, "video/mp4"), "Range", range);
  made.response.status = 206;
  return made;
}

constexpr const char* kApi = "https://a.test/graphql";
constexpr const char* kVideo = "https://a.test/v.mp4";

TEST_F(Hybrid, AnswersEachBodyOfARequestWithItsOwnData) {
  a_.add(a_post(kApi), "one", "op1");
  a_.add(a_post(kApi), "two", "op2");
  b_.add(a_post(kApi), "two", "op2");
  b_.add(a_post(kApi), "one", "op1");
  EXPECT_THAT(hybrid({}).answers, ElementsAre("op1: one", "op2: two"));
  EXPECT_THAT(all().answers, ElementsAre("op1: one", "op2: two"));
}

TEST_F(Hybrid, AnswersABodyThatOnlyBSends) {
  a_.add(a_post(kApi), "one", "op1");
  b_.add(a_post(kApi), "three", "op3");
  b_.add(a_post(kApi), "one", "op1");
  EXPECT_THAT(hybrid({}).answers, UnorderedElementsAre("op1: one", "op3: three"));
}

TEST_F(Hybrid, AnswersABodyThatChanged) {
  a_.add(a_post(kApi), "one", "at 10:00");
  b_.add(a_post(kApi), "another", "at 11:00");
  EXPECT_THAT(hybrid({}).answers, UnorderedElementsAre("at 10:00: one", "at 11:00: one"));
  EXPECT_THAT(all().answers, UnorderedElementsAre("at 10:00: another", "at 11:00: another"));
}

TEST_F(Hybrid, AnswersTheRangesOfBoth) {
  a_.add(a_part(kVideo, "bytes=0-"), "begin");
  a_.add(a_part(kVideo, "bytes=1245184-"), "end");
  b_.add(a_part(kVideo, "bytes=983040-"), "the end");
  EXPECT_THAT(all().answers, UnorderedElementsAre("bytes=0-: begin", "bytes=1245184-: end",
                                                  "bytes=983040-: the end"));
  EXPECT_TRUE(differences_.alignment.pairs.empty());
}

Exchange a_web_socket(std::string_view url, std::uint16_t status = 101) {
  auto made = a_get(url, "");
  made.request.method = "CONNECT";
  made.request.protocol = kWebSocketProtocol;
  made.request.version = HttpVersion::kHttp11;
  made.response.status = status;
  return made;
}

TEST_F(Hybrid, SendsTheMessagesOfAWebSocketUnderBothUrls) {
  a_.add_message(a_.add(a_web_socket("https://a.test/s.1a2b3c4d")), "hello");
  b_.add_message(b_.add(a_web_socket("https://a.test/s.99ff00aa")), "good day");
  EXPECT_THAT(hybrid({}).messages, UnorderedElementsAre("https://a.test/s.1a2b3c4d: hello",
                                                        "https://a.test/s.99ff00aa: hello"));
}

TEST_F(Hybrid, SendsNoMessagesWhereBRefusesTheWebSocket) {
  auto const url = std::string("https://a.test/socket");
  a_.add_message(a_.add(a_web_socket(url)), "hello");
  b_.add(a_web_socket(url, 403));
  EXPECT_THAT(hybrid({}).messages, ElementsAre(url + ": hello"));
  EXPECT_THAT(hybrid({{DifferenceKind::kStatus, url}}).messages, testing::IsEmpty());
}

TEST_F(Hybrid, GivesHintsAsLongAfterTheRequestAsB) {
  using std::chrono::milliseconds;
  auto const hinting = [](Exchange exchange, std::string_view link, milliseconds time) {
    exchange.interim.push_back({.status = 103,
                                .reason = "Early Hints",
                                .headers = {{.name = "Link", .value = link}},
                                .time = time});
    return exchange;
  };
  auto in_b = timed(a_get(kPage, "text/html"), 400);
  in_b.timings.request_sent += milliseconds(5000);
  in_b.timings.first_byte += milliseconds(5000);
  in_b.timings.end += milliseconds(5000);
  in_b = hinting(std::move(in_b), "</a.css>; rel=preload", milliseconds(5107));
  a_.add(timed(a_get(kPage, "text/html"), 20), "a");
  b_.add(hinting(std::move(in_b), "</b.css>; rel=preload", milliseconds(5300)), "a");
  auto const made = hybrid({{DifferenceKind::kHints, kPage}}).exchanges.at(kPage);
  ASSERT_EQ(made.interim.size(), 2u);
  EXPECT_EQ(made.interim[0].time, milliseconds(107));
  EXPECT_EQ(made.interim[1].time, made.timings.first_byte);
}

}  // namespace
}  // namespace reprise
