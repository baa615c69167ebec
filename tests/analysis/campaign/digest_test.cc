#include "analysis/campaign/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>

namespace reprise {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// A change that was measured to shift the load event by so many ms.
std::string change(const std::string& what_if, const std::string& verdict, int shift,
                   const std::string& kind = "blocking script") {
  auto const low = std::to_string(shift - 5), high = std::to_string(shift + 5);
  return R"({"verdict":")" + verdict + R"(","changes":[{"kind":")" + kind + R"(","advice":"Try )" +
         what_if + R"(","what_if":")" + what_if + R"("}],"shift":{"estimate":)" +
         std::to_string(shift) + R"(,"low":)" + low + R"(,"high":)" + high + "}}";
}

AdvisedPage page_of(const std::string& name, double load_ms, const std::string& changes) {
  AdvisedPage page{.page = name, .url = "https://" + name + ".test/"};
  for (int load = 0; load < 8; ++load) page.load_events_ms.push_back(load_ms + load);
  page.nodes = {"n1"};
  page.advice = json::parse(R"({"changes":[)" + changes + "]}").as_object();
  return page;
}

json::object digest_of(const std::string& owner, const std::vector<AdvisedPage>& pages,
                       const std::map<std::string, AdvisedPage>& before) {
  return owner_digest(owner, pages, before, changes_since(pages, before));
}

TEST(Digest, SuggestsOnlyWhatWasMeasuredToSave) {
  std::vector<AdvisedPage> const pages{
      page_of("a", 1000,
              change("defer", "saves", -40) + "," + change("inline", "no effect", -90) + "," +
                  change("preload", "costs", 30) + "," + change("h3", "saves", -60)),
      page_of("b", 1000, change("defer", "saves", -200)), page_of("c", 1000, "")};
  auto const digest = digest_of("shop", pages, {});
  EXPECT_EQ(digest.at("suggestions").to_number<int>(), 3);
  auto const& first = digest.at("pages").as_array()[0].as_object();
  EXPECT_EQ(first.at("page"), "b");  // the largest saving first
  auto const& second = digest.at("pages").as_array()[1].as_object();
  EXPECT_EQ(second.at("suggestions").as_array()[0].as_object().at("what_if"), "h3");
  auto const text = digest_markdown(digest);
  EXPECT_THAT(text, HasSubstr("1. Try h3: saves 60 ms (55 ms to 65 ms, measured). New"));
  EXPECT_THAT(text, Not(HasSubstr("inline")));
  EXPECT_THAT(text, HasSubstr("No change could be shown"));
}

TEST(Digest, SaysWhyAPageCouldNotBeMeasured) {
  auto const page = advised_page(
      json::parse(R"({"page":"a","failures":[{"why":"it did not load"}]})").as_object());
  auto const text = digest_markdown(digest_of("shop", {page}, {}));
  EXPECT_THAT(text, HasSubstr("Load event: not measured (it did not load)."));
  EXPECT_THAT(text, Not(HasSubstr("No change could be shown")));
}

TEST(Digest, TakesTheUrlThatAPageHadBefore) {
  std::vector<AdvisedPage> pages{
      {.page = "a"}, {.page = "b", .url = "https://new.test/"}, {.page = "c"}};
  take_urls(pages, {{"a", page_of("a", 1000, "")}, {"b", page_of("b", 1000, "")}});
  EXPECT_EQ(pages[0].url, "https://a.test/");
  EXPECT_EQ(pages[1].url, "https://new.test/");
  EXPECT_EQ(pages[2].url, "");
}

TEST(Digest, NamesAPageThatCouldNotBeMeasured) {
  AdvisedPage page{.page = "shop-start"};
  auto const text = digest_markdown(digest_of("shop", {page}, {{"shop-start", page}}));
  EXPECT_THAT(text, HasSubstr("## shop-start\n\nLoad event: not measured, unknown."));
}

TEST(Digest, NamesThePageThatBecameSlowerFirst) {
  std::map<std::string, AdvisedPage> const before{{"a", page_of("a", 1000, "")},
                                                  {"b", page_of("b", 1000, "")}};
  std::vector<AdvisedPage> const now{page_of("a", 1000, change("defer", "saves", -300)),
                                     page_of("b", 1100, "")};
  auto const digest = digest_of("shop", now, before);
  EXPECT_EQ(digest.at("slower").to_number<int>(), 1);
  auto const& first = digest.at("pages").as_array()[0].as_object();
  EXPECT_EQ(first.at("page"), "b");
  EXPECT_EQ(first.at("since_last_time").as_object().at("verdict"), "slower");
  auto const& second = digest.at("pages").as_array()[1].as_object();
  EXPECT_EQ(second.at("since_last_time").as_object().at("verdict"), "no difference shown");
  EXPECT_THAT(digest_markdown(digest), HasSubstr("slower (+100 ms since the last time)"));
}

TEST(Digest, CallsNoPageSlowerThatMovedToAnotherNode) {
  auto then = page_of("a", 1000, ""), now = page_of("a", 1030, "");
  auto const verdict = [&] {
    return changes_since(std::vector{now}, {{"a", then}}).at("a").at("verdict");
  };
  EXPECT_EQ(verdict(), "slower");
  now.nodes = {"n2"};
  EXPECT_EQ(verdict(), "unknown");
  auto const digest = digest_of("shop", {now}, {{"a", then}});
  EXPECT_EQ(digest.at("slower").to_number<int>(), 0);
  EXPECT_THAT(digest_markdown(digest),
              HasSubstr("unknown (not measured on the same nodes as the last time)."));
  then.nodes = {"n1", "n2"};
  EXPECT_EQ(verdict(), "unknown");
  then.nodes.clear();
  now.nodes.clear();
  EXPECT_EQ(verdict(), "unknown");
}

TEST(Digest, JudgesNoPageWithOthersThatMoved) {
  auto then = page_of("a", 1000, ""), now = page_of("a", 1011, "");
  then.load_events_ms.resize(5);
  now.load_events_ms.resize(5);  // p = .008: significant alone, and not among 20
  std::map<std::string, AdvisedPage> before{{"a", then}};
  std::vector<AdvisedPage> pages{now};
  for (int page = 1; page < 20; ++page) {
    auto const name = "page" + std::to_string(page);
    before.emplace(name, page_of(name, 1000, ""));
    pages.push_back(page_of(name, 1000, ""));
    pages.back().nodes = {"n2"};
  }
  EXPECT_EQ(changes_since(pages, before).at("a").at("verdict"), "slower");
}

TEST(Digest, TakesNodesFromTheSetsPage) {
  auto const page = advised_page(
      json::parse(R"({"page":"a","nodes":{"n1":5,"n2":3},"load_events_ms":[1]})").as_object());
  EXPECT_EQ(page.nodes, (std::set<std::string>{"n1", "n2"}));
}

TEST(Digest, OfManyPagesNamesNoneForWhatChanceDoes) {
  // Five loads each that do not overlap: p = .008.
  auto then = page_of("page0", 1000, ""), now = page_of("page0", 1011, "");
  then.load_events_ms.resize(5);
  now.load_events_ms.resize(5);
  std::map<std::string, AdvisedPage> before{{"page0", then}};
  std::vector<AdvisedPage> pages{now};
  EXPECT_EQ(digest_of("shop", pages, before).at("slower").to_number<int>(), 1);
  for (int page = 1; page < 20; ++page) {
    auto const name = "page" + std::to_string(page);
    before.emplace(name, page_of(name, 1000, ""));
    pages.push_back(page_of(name, 1000, ""));
  }
  EXPECT_EQ(digest_of("shop", pages, before).at("slower").to_number<int>(), 0);
  // Nor if they are of other owners.
  auto const changes = changes_since(pages, before);
  EXPECT_EQ(owner_digest("shop", std::span(pages).first(1), before, changes).at("slower"), 0);
  pages.back() = page_of("page19", 1100, "");  // sixteen loads: p = .0002
  EXPECT_EQ(digest_of("shop", pages, before).at("slower").to_number<int>(), 1);
}

TEST(Digest, SaysWhatIsNewAndWhatIsNoLongerSuggested) {
  auto const then =
      page_of("a", 1000, change("defer", "saves", -40) + "," + change("h3", "saves", -60));
  std::vector<AdvisedPage> const now{
      page_of("a", 1000, change("defer", "saves", -41) + "," + change("inline", "saves", -70))};
  auto const digest = digest_of("shop", now, {{"a", then}});
  auto const& page = digest.at("pages").as_array()[0].as_object();
  auto const& suggestions = page.at("suggestions").as_array();
  ASSERT_EQ(suggestions.size(), 2U);
  EXPECT_TRUE(suggestions[0].as_object().at("new").as_bool());
  EXPECT_FALSE(suggestions[1].as_object().at("new").as_bool());
  EXPECT_EQ(json::serialize(page.at("no_longer_suggested")), R"(["h3"])");
}

TEST(Digest, SuggestsNoPageWithoutItsThirdParties) {
  auto const page = page_of("a", 1000, change("drop", "saves", -400, "third party"));
  EXPECT_EQ(digest_of("shop", {page}, {}).at("suggestions").to_number<int>(), 0);
}

TEST(Digest, DoesNotLetAPageWriteMarkdown) {
  auto page = page_of("a", 1000, change("x` <b>", "saves", -40));
  page.url = "https://a.test/[x](http://evil.test)\n# Heading";
  auto const text = digest_markdown(digest_of("shop", std::vector{page}, {}));
  EXPECT_THAT(text, HasSubstr("\\[x\\]"));
  EXPECT_THAT(text, Not(HasSubstr("\n# Heading")));
  EXPECT_THAT(text, HasSubstr("`` x` <b> ``"));
}

}  // namespace
}  // namespace reprise
