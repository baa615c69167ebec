#include "analysis/request_changes.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kPage = "https://a.test/";

struct Request {
  std::string url;
  double start_ms = 10;
  double end_ms = 20;
};

void add_load(LoadResult& to, const std::vector<Request>& requests, std::string url = kPage) {
  auto& load = to.loads.emplace_back();
  load.page.url = std::move(url);
  for (const Request& each : requests) {
    auto& request = load.page.requests.emplace_back();
    request.method = "GET";
    request.url = each.url;
    request.start_ms = each.start_ms;
    request.end_ms = each.end_ms;
  }
}

LoadResult result_of(const std::vector<std::vector<Request>>& loads) {
  LoadResult result;
  for (auto const& requests : loads) add_load(result, requests);
  return result;
}

std::vector<std::string> moved_in(const RequestChanges& changes) {
  std::vector<std::string> urls;
  for (const MovedRequest& each : changes.moved) urls.push_back(each.url);
  return urls;
}

TEST(RequestChanges, OfEqualLoadsAreNone) {
  auto const result = result_of({{{"/x"}, {"/y"}}, {{"/x"}}});
  auto const changes = request_changes(result, result);
  EXPECT_THAT(changes.came, IsEmpty());
  EXPECT_THAT(changes.went, IsEmpty());
  EXPECT_THAT(changes.moved, IsEmpty());
  EXPECT_THAT(changes.missed, IsEmpty());
}

TEST(RequestChanges, AreWhatMostLoadsOfOneSideHave) {
  auto const a = result_of({{{"/old"}, {"/rare"}}, {{"/old"}}, {{"/half"}}, {{"/half"}, {"/old"}}});
  auto const b = result_of({{{"/new"}, {"/half"}}, {{"/new"}, {"/half"}}, {{"/half"}, {"/rare"}}});
  auto const changes = request_changes(a, b);
  // Half of the loads are not most.
  EXPECT_THAT(changes.came, ElementsAre("GET /half", "GET /new"));
  EXPECT_THAT(changes.went, ElementsAre("GET /old"));
}

TEST(RequestChanges, CompareTheNthRequestOfAUrlWithTheNth) {
  auto const a = result_of({{{"/x", 10, 20}, {"/x", 500, 510}}});
  auto const b = result_of({{{"/x", 10, 20}, {"/x", 500, 510}, {"/x", 900, 910}}});
  EXPECT_THAT(request_changes(a, b).came, ElementsAre("GET /x"));
  EXPECT_THAT(request_changes(a, b).moved, IsEmpty());
  EXPECT_THAT(request_changes(b, a).went, ElementsAre("GET /x"));
}

TEST(RequestChanges, MovedByTheMedianOfTheirTimesTheFurthestFirst) {
  auto const a = result_of({{{"/near", 0, 100}, {"/far", 0, 100}, {"/still", 0, 100}},
                            {{"/near", 0, 102}, {"/far", 0, 100}, {"/still", 0, 100}},
                            {{"/near", 0, 900}, {"/far", 0, 100}, {"/still", 0, 100}}});
  auto const b = result_of({{{"/near", 0, 112}, {"/far", 300, 100}, {"/still", 0, 109}}});
  auto const changes = request_changes(a, b);
  EXPECT_THAT(moved_in(changes), ElementsAre("GET /far", "GET /near"));
  EXPECT_EQ(changes.moved[0].a.start_ms, 0);
  EXPECT_EQ(changes.moved[0].b.start_ms, 300);
  EXPECT_EQ(changes.moved[1].a.end_ms, 102);
  EXPECT_EQ(changes.moved[1].b.end_ms, 112);
}

TEST(RequestChanges, MovedRequestsThatNeverEndedAreComparedByTheirStart) {
  auto const a = result_of({{{"/x", 10, -1}}});
  auto const b = result_of({{{"/x", 40, -1}}});
  auto const changes = request_changes(a, b);
  ASSERT_THAT(changes.moved, SizeIs(1));
  EXPECT_EQ(changes.moved[0].b.end_ms, 40);
}

TEST(RequestChanges, LeaveOutRequestsWithoutAStart) {
  auto const b = result_of({{{"/x", -1, -1}}});
  EXPECT_THAT(request_changes(result_of({{}}), b).came, IsEmpty());
}

TEST(RequestChanges, AreNotTheBrowsersOwn) {
  auto const b = result_of({{{"https://a.test/favicon.ico"}, {"https://a.test/img/icon.png"}}});
  EXPECT_THAT(request_changes(result_of({{}}), b).came,
              ElementsAre("GET https://a.test/img/icon.png"));
  EXPECT_THAT(request_changes(b, result_of({{}})).went,
              ElementsAre("GET https://a.test/img/icon.png"));
}

TEST(RequestChanges, AreNotThoseThatDifferInVolatileValuesAlone) {
  auto const a = result_of({{{"https://a.test/api?t=1732845600123&k=7", 10, 20},
                             {"https://a.test/b?id=0123456789abcdef0123", 10, 20},
                             {"https://a.test/c?t=1732845600123", 10, 20}}});
  auto b = result_of({{{"https://a.test/api?t=1732849999999&k=7", 510, 520},
                       {"https://a.test/b?id=fedcba98765432100000", 10, 20},
                       {"https://a.test/c?t=2", 10, 20}}});
  b.loads[0].replay = 0;
  ReplaySummary report;
  report.distinct_misses.push_back(
      {.method = "GET", .url = "https://a.test/api?t=1732849999999&k=7"});
  b.replays.push_back({.report = report});
  auto const changes = request_changes(a, b);
  EXPECT_THAT(changes.came, ElementsAre("GET https://a.test/c?t=2"));
  EXPECT_THAT(changes.went, ElementsAre("GET https://a.test/c?t=1732845600123"));
  EXPECT_THAT(changes.missed, IsEmpty()) << "it did not come";
  EXPECT_THAT(moved_in(changes), ElementsAre("GET https://a.test/api?t=1732849999999&k=7"));
  EXPECT_EQ(changes.moved[0].a.start_ms, 10);
  EXPECT_THAT(changes.volatile_names, ElementsAre("id", "t"));
}

TEST(RequestChanges, PairVolatileValuesOneWithOneOnOnePage) {
  auto const a = result_of({{{"/?t=1732845600123"}, {"/?t=1732845600456"}}});
  auto b = result_of({{{"/?t=1732845600999"}}});
  EXPECT_THAT(request_changes(a, b).went, ElementsAre("GET /?t=1732845600456"));
  EXPECT_THAT(request_changes(b, a).came, ElementsAre("GET /?t=1732845600456"));
  // An equal request is the better partner.
  b = result_of({{{"/?t=1732845600123"}}});
  EXPECT_THAT(request_changes(a, b).went, ElementsAre("GET /?t=1732845600456"));
  // Not with a request of another page.
  auto of_a = a;
  auto of_b = a;
  for (auto* const side : {&of_a, &of_b}) add_load(*side, {}, "https://b.test/");
  add_load(of_a, {}, "https://c.test/");
  add_load(of_b, {}, "https://c.test/");
  of_a.loads[1].page.requests = a.loads[0].page.requests;
  of_b.loads[2].page.requests = result_of({{{"/?t=1732845600999"}}}).loads[0].page.requests;
  EXPECT_THAT(request_changes(of_a, of_b).went,
              ElementsAre("GET /?t=1732845600123", "GET /?t=1732845600456"));
  EXPECT_THAT(request_changes(of_a, of_b).came, ElementsAre("GET /?t=1732845600999"));
}

TEST(RequestChanges, PairVolatileValuesInTheOrderOfTime) {
  auto const early = "/?t=1732845600999", late = "/?t=1732845600123";
  auto const a = result_of({{{early, 100, 110}, {late, 900, 910}}});
  auto const b = result_of({{{"/?t=1732845600456", 100, 110}, {"/?t=1732845600789", 900, 910}}});
  EXPECT_THAT(request_changes(a, b).moved, IsEmpty());
  EXPECT_THAT(request_changes(a, result_of({{{"/?t=1732845600456", 100, 110}}})).went,
              ElementsAre(std::string("GET ") + late));
}

TEST(RequestChanges, MissWhatTheArchiveLacks) {
  auto b = result_of({{{"/new"}, {"/lost"}, {"/lost-before"}}});
  b.loads[0].replay = 0;
  ReplaySummary report;
  for (auto const* const url : {"/lost", "/lost-before", "/not-requested"}) {
    report.distinct_misses.push_back({.method = "GET", .url = url});
  }
  report.distinct_misses.push_back({.method = "POST", .url = "/new"});
  b.replays.push_back({.report = report});
  auto const changes = request_changes(result_of({{{"/lost-before"}}}), b);
  EXPECT_THAT(changes.came, ElementsAre("GET /lost", "GET /new"));
  EXPECT_THAT(changes.missed, ElementsAre("GET /lost"));
}

TEST(RequestChanges, AreOfEachPageByItself) {
  auto a = result_of({{{"/x"}}, {{"/x"}}, {{"/x"}}});
  add_load(a, {}, "https://b.test/");
  auto b = result_of({{{"/x"}}, {{"/x"}}, {{"/x"}}});
  add_load(b, {{"/x"}}, "https://b.test/");
  EXPECT_THAT(request_changes(a, b).came, ElementsAre("GET /x"));
  EXPECT_THAT(request_changes(b, a).went, ElementsAre("GET /x"));
}

TEST(RequestChanges, AreOfPagesThatBothSidesLoaded) {
  auto a = result_of({{{"/x"}}});
  auto b = a;
  add_load(b, {{"/other"}}, "https://b.test/");
  EXPECT_THAT(request_changes(a, b).came, IsEmpty());
  EXPECT_THAT(request_changes(b, a).went, IsEmpty());
  // A page that never loaded is like one that is not there.
  add_load(a, {}, "https://b.test/");
  a.loads.back().page.outcome = LoadOutcome::kTimedOut;
  EXPECT_THAT(request_changes(a, b).came, IsEmpty());
  EXPECT_THAT(request_changes(b, a).went, IsEmpty());
}

TEST(RequestChanges, CountOnlyLoadsThatCount) {
  auto const a = result_of({{{"/x"}}});
  auto b = a;
  for (int i = 0; i < 3; ++i) add_load(b, {{"/x"}, {"/new"}});
  b.loads[1].warm_up = true;
  b.loads[2].skipped = "the machine was busy";
  b.loads[3].page.outcome = LoadOutcome::kBrowserDied;
  EXPECT_THAT(request_changes(a, b).came, IsEmpty());
  add_load(b, {{"/x"}, {"/new"}});
  add_load(b, {{"/x"}, {"/new"}});
  EXPECT_THAT(request_changes(a, b).came, ElementsAre("GET /new"));
}

}  // namespace
}  // namespace reprise
