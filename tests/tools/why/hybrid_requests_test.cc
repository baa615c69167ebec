// What a hybrid answers to the requests of both recordings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace reprise
