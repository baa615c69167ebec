#include <gmock/gmock.h>

#include <set>

#include "tools/record/corpus_list.h"
#include "tools/record/page_check.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(CorpusList, HasAPageALine) {
  auto const pages = parse_corpus_list(
      "\xEF\xBB\xBFhttps://a.test/\r\n\n# a comment\n  http://b.test/x?y=1#z \nhttps://a.test/");
  ASSERT_TRUE(pages);
  ASSERT_EQ(pages->size(), 2);
  EXPECT_EQ((*pages)[0].url, "https://a.test/");
  EXPECT_EQ((*pages)[1].url, "http://b.test/x?y=1#z");
  EXPECT_THAT((*pages)[1].name, StartsWith("b.test-x-y-1-z-"));
}

TEST(CorpusList, NamesTheLineThatIsNoUrl) {
  for (auto const* const line :
       {"ftp://a.test/", "a.test", "https://", "https:///x", "https://?", "https://a.test/ b",
        "https://a.test/\x01", "https://\xC3\xA4.test/"}) {
    auto const pages = parse_corpus_list(std::string("https://a.test/\n") + line);
    ASSERT_FALSE(pages) << line;
    EXPECT_THAT(pages.error(), StartsWith("line 2 is")) << line;
  }
  EXPECT_FALSE(parse_corpus_list(""));
  EXPECT_FALSE(parse_corpus_list("# nothing\n"));
  EXPECT_FALSE(parse_corpus_list("https://a.test/" + std::string(64 << 10, 'x')));
}

TEST(CorpusList, GivesEachPageAFileNameOfItsOwn) {
  std::string const far(300, 'x');
  auto const pages = parse_corpus_list(
      "https://a.test/\nhttp://a.test/\nhttps://a.test/?\nhttps://a.test/%2F\nhttps://a.test/../"
      "..\n"
      "HTTPS://A.test/\nhttps://..%2f/-\nhttps://a.test/" +
      far + "1\nhttps://a.test/" + far + "2");
  ASSERT_TRUE(pages);
  std::set<std::string> names;
  for (auto const& [url, name] : *pages) {
    EXPECT_LE(name.size(), kNameBytesMax) << url;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-"), std::string::npos);
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(name.front()))) << name;
    EXPECT_TRUE(names.insert(name).second) << url;
  }
  EXPECT_EQ(names.size(), 9);
}

PageLoad page(int status, std::string dom) {
  PageLoad load{.url = "https://a.test/", .final_url = "https://a.test/#top"};
  load.requests = {{.url = "https://a.test/", .resource_type = "Document", .status = 302},
                   {.url = "https://a.test/", .resource_type = "Document", .status = status},
                   {.url = "https://b.test/", .resource_type = "Document", .status = 503}};
  load.dom = std::move(dom);
  return load;
}

std::vector<std::string> kinds(const PageLoad& load) {
  std::vector<std::string> kinds;
  for (const PageProblem& problem : check_page(load)) kinds.push_back(problem.kind);
  return kinds;
}

TEST(PageCheck, FindsNothingWrongWithAPage) {
  auto const load = page(200, "<html><head><title>Cookies and robots</title></head></html>");
  ASSERT_NE(document_of(load), nullptr);
  EXPECT_EQ(document_of(load)->status, 200);
  EXPECT_EQ(document_of({}), nullptr);
  EXPECT_THAT(kinds(load), IsEmpty());
  EXPECT_THAT(kinds(page(304, "")), IsEmpty());
}

TEST(PageCheck, TellsPagesThatAreNone) {
  EXPECT_THAT(kinds(page(404, "")), ElementsAre("error-page"));
  EXPECT_THAT(kinds(page(429, "")), ElementsAre("error-page", "bot-wall"));
  auto load = page(200, "");
  load.outcome = LoadOutcome::kTimedOut;
  load.failure = "After 30.0 s the page was not quiet.";
  ASSERT_THAT(kinds(load), ElementsAre("not-loaded"));
  EXPECT_EQ(check_page(load)[0].text, "After 30.0 s the page was not quiet");
}

TEST(PageCheck, TellsWallsByTheirMarks) {
  EXPECT_THAT(kinds(page(403, "<title data-x>Just a moment...</title>")),
              ElementsAre("error-page", "bot-wall"));
  EXPECT_THAT(kinds(page(200, "<title>")), IsEmpty());
  auto challenged = page(200, "");
  challenged.requests.push_back({.url = "https://geo.captcha-delivery.com/captcha/?x"});
  EXPECT_THAT(kinds(challenged), ElementsAre("bot-wall"));
  EXPECT_THAT(kinds(page(200, "<div id=\"onetrust-banner-sdk\" role=\"dialog\">")),
              ElementsAre("consent-wall"));
  auto sent_away = page(200, "");
  sent_away.final_url = "https://consent.google.com/ml?continue=x";
  ASSERT_THAT(kinds(sent_away), ElementsAre("consent-wall"));
  EXPECT_THAT(check_page(sent_away)[0].text, HasSubstr("Google"));
}

}  // namespace
}  // namespace reprise
