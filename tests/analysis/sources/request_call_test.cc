#include "analysis/sources/request_call.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// "connect 30-50" of the request's phases.
std::vector<std::string> phases(std::int64_t start, std::int64_t end, const RequestTimes& times) {
  CallTree tree;
  add_request(tree, {.name = "request", .start_us = start, .end_us = end}, times);
  std::vector<std::string> out;
  for (std::size_t i = 1; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    EXPECT_EQ(call.parent, 0u);
    EXPECT_EQ(call.kind, CallKind::kPhase);
    out.push_back(call.name + " " + std::to_string(call.start_us) + "-" +
                  std::to_string(call.end_us));
  }
  return out;
}

TEST(RequestPhases, FollowEachOther) {
  RequestTimes const times{.dns_start = 10,
                           .dns_end = 20,
                           .connect_start = 30,
                           .tls_start = 50,
                           .connect_end = 70,
                           .send_start = 75,
                           .send_end = 80,
                           .first_byte = 100};
  EXPECT_THAT(phases(0, 150, times),
              ElementsAre("queued 0-10", "dns 10-20", "queued 20-30", "connect 30-50", "tls 50-70",
                          "queued 70-75", "send 75-80", "wait 80-100", "receive 100-150"));
}

TEST(RequestPhases, OfAReusedConnectionAreFew) {
  EXPECT_THAT(phases(0, 90, {.send_start = 0, .send_end = 0, .first_byte = 40}),
              ElementsAre("wait 0-40", "receive 40-90"));
}

TEST(RequestPhases, WaitToTheEndIfNothingCame) {
  EXPECT_THAT(phases(0, 90, {.send_start = 10, .send_end = 12}),
              ElementsAre("queued 0-10", "send 10-12", "wait 12-90"));
}

TEST(RequestPhases, AreCutWhereTheyContradictEachOther) {
  EXPECT_THAT(phases(50, 90, {.connect_start = 10, .connect_end = 200, .first_byte = 60}),
              ElementsAre("connect 50-90"));
}

TEST(RequestPhases, AreNoneIfNothingIsKnown) {
  EXPECT_THAT(phases(0, 90, {}), IsEmpty());
}

std::string cdn(std::initializer_list<HeaderView> fields) {
  return cdn_answer(std::span(fields.begin(), fields.size()));
}

TEST(CdnAnswer, IsReadFromWhatNetworksSend) {
  EXPECT_EQ(cdn({{.name = "X-Cache", .value = "Hit from cloudfront"}}), "hit");
  EXPECT_EQ(cdn({{.name = "x-cache", .value = "TCP_MISS from a23"}}), "miss");
  EXPECT_EQ(cdn({{.name = "cf-cache-status", .value = "DYNAMIC"}}), "miss");
  EXPECT_EQ(cdn({{.name = "Cache-Status", .value = "edge; hit; ttl=30"}}), "hit");
  EXPECT_EQ(cdn({{.name = "Cache-Status", .value = "edge; fwd=uri-miss"}}), "miss");
  EXPECT_EQ(cdn({{.name = "Server", .value = "cloudflare"}}), "yes");
  EXPECT_EQ(cdn({{.name = "Via", .value = "1.1 abc.cloudfront.net (CloudFront)"}}), "yes");
  EXPECT_EQ(cdn({{.name = "Server", .value = "nginx"}, {.name = "Via", .value = "1.1 proxy"}}), "");
}

}  // namespace
}  // namespace reprise
