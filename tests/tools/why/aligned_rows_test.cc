#include "tools/why/aligned_rows.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/analysis/differences/made_page.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A load of all requests of a page, one after the other; `think_ms` for one of them.
PageLoad a_load(const MadePage& page, std::string_view slow = {}, double think_ms = 0) {
  PageLoad load;
  double now_ms = 0;
  for (auto const& exchange : page.page.exchanges) {
    PageRequest request{.url = exchange.url(), .method = "GET"};
    request.start_ms = now_ms;
    now_ms += 10 + (request.url == slow ? think_ms : 0);
    request.timing = RequestTiming{.send_start_ms = request.start_ms, .first_byte_ms = now_ms - 1};
    request.end_ms = now_ms;
    load.requests.push_back(std::move(request));
  }
  return load;
}

std::vector<std::string> urls(const AlignedRows& rows, const std::vector<std::size_t>& which) {
  std::vector<std::string> found;
  for (auto const row : which) found.push_back(rows.all()[row].url());
  return found;
}

TEST(AlignedRows, OfAHostAreItsRequests) {
  auto b = a_page();
  for (auto& exchange : b.page.exchanges) {
    if (exchange.host == "cdn.test") exchange.think = std::chrono::milliseconds(500);
  }
  auto const differences = differences_of(a_page(), b);
  ASSERT_EQ(differences.groups.size(), 1u);
  auto const load_a = a_load(a_page());
  auto const load_b = a_load(b);
  Waterfall of_a;
  Waterfall of_b;
  of_a.add(load_a);
  of_b.add(load_b);
  AlignedRows const rows(differences, of_a, of_b);
  EXPECT_EQ(rows.all().size(), 6u);
  EXPECT_THAT(urls(rows, rows.of_groups({0})),
              ElementsAre("https://cdn.test/track.1a2b3c4d.js?t=1700000001"));
}

TEST(AlignedRows, HaveRequestsOfOneSideAtTheirStartAndInTheirGroup) {
  auto a = a_page();
  auto b = a_page();
  a.remove("https://a.test/app.js");
  b.remove("https://a.test/img/hero.png");
  auto const differences = differences_of(a, b);
  auto const load_a = a_load(a);
  auto const load_b = a_load(b);
  Waterfall of_a;
  Waterfall of_b;
  of_a.add(load_a);
  of_b.add(load_b);
  AlignedRows const rows(differences, of_a, of_b);
  ASSERT_EQ(rows.all().size(), 6u);
  std::size_t only_a = 0;
  std::size_t only_b = 0;
  double last_ms = 0;
  for (auto const& row : rows.all()) {
    only_a += !row.b;
    only_b += !row.a;
    auto const start_ms = (row.a ? row.a : row.b)->start_ms;
    EXPECT_GE(start_ms, last_ms);
    last_ms = start_ms;
  }
  EXPECT_EQ(only_a, 1u);
  EXPECT_EQ(only_b, 1u);
  std::set<std::string> found;
  for (std::size_t group = 0; group < differences.groups.size(); ++group) {
    for (auto const& url : urls(rows, rows.of_groups({group}))) found.insert(url);
  }
  EXPECT_TRUE(found.contains("https://a.test/app.js"));
  EXPECT_TRUE(found.contains("https://a.test/img/hero.png"));
}

TEST(AlignedRows, SayByHowMuchAGroupTakesLonger) {
  auto b = a_page();
  b.set_body("https://a.test/app.js", "other();");
  b.set_body("https://a.test/img/hero.png", "another image");
  auto const differences = differences_of(a_page(), b);
  ASSERT_EQ(differences.groups.size(), 2u);
  auto const load_a = a_load(a_page());
  auto const load_b = a_load(b, "https://a.test/img/hero.png", 300);
  Waterfall of_a;
  Waterfall of_b;
  of_a.add(load_a);
  of_b.add(load_b);
  AlignedRows const rows(differences, of_a, of_b);
  for (std::size_t group = 0; group < 2; ++group) {
    bool const is_image = differences.groups[group].title.contains("hero.png");
    EXPECT_DOUBLE_EQ(rows.change_ms(group), is_image ? 300 : 0);
  }
}

TEST(AlignedRows, HaveMediansOfTheLoads) {
  auto const page = a_page();
  auto const url = page.page.exchanges[0].url();
  std::vector<PageLoad> loads;
  for (double const ms : {1.0, 2.0, 90.0}) loads.push_back(a_load(page, url, ms));
  loads[2].requests[0].timing.reset();
  loads[0].requests[1].end_ms = -1;
  Waterfall waterfall;
  for (auto const& load : loads) waterfall.add(load);
  auto const first = waterfall.request(url);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->end_ms, 12);
  EXPECT_EQ(first->timing->first_byte_ms, 10.5);
  EXPECT_EQ(first->timing->connect_start_ms, -1);
  EXPECT_FALSE(waterfall.request("https://a.test/never.js"));
}

TEST(AlignedRows, OfWhatWasNotLoadedAreNone) {
  auto const differences = differences_of(a_page(), a_page());
  AlignedRows const rows(differences, Waterfall(), Waterfall());
  EXPECT_THAT(rows.all(), IsEmpty());
}

}  // namespace
}  // namespace reprise
