#include "analysis/contribution/kinds.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "analysis/contribution/call_subject.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Entities entities() {
  return Entities::parse(R"([
    {"name": "Adserver", "category": "ad", "domains": ["*.ads.test", "exact.test"]},
    {"name": "Fastcache", "category": "cdn", "domains": ["*.cache.test"]},
    {"name": "Shop", "category": "content", "domains": ["*.shop.test", "*.shopstatic.test"]}])")
      .value();
}

/// A page of https://www.shop.test/ with one request, and of it the phase `phase`.
std::pair<std::string, std::string> kinds_of(const char* url, std::vector<Attribute> attributes,
                                             const char* phase = "wait") {
  CallTree tree{.page = "https://www.shop.test/", .window_us = 100};
  tree.calls.push_back({.name = url, .end_us = 50, .attributes = std::move(attributes)});
  tree.calls.push_back({.kind = CallKind::kPhase, .name = phase, .end_us = 40, .parent = 0});
  auto const& rules = KindRules::standard();
  auto const kinds = rules.classify(tree, entities());
  return {rules.kinds()[kinds[0]].name, rules.kinds()[kinds[1]].name};
}

std::string kind_of_phase(const char* url, std::vector<Attribute> attributes,
                          const char* phase = "wait") {
  return kinds_of(url, std::move(attributes), phase).second;
}

TEST(StandardKinds, AreThoseOfTheArticle) {
  EXPECT_EQ(kind_of_phase("https://www.shop.test/", {}), "server");
  EXPECT_EQ(kind_of_phase("https://api.shop.test/", {{"type", "XHR"}}), "AJAX");
  EXPECT_EQ(kind_of_phase("https://www.shop.test/", {}, "tls"), "connection");
  EXPECT_EQ(kind_of_phase("https://www.shop.test/", {}, "receive"), "download");
  EXPECT_EQ(kind_of_phase("https://www.shop.test/", {{"cdn", "hit"}}), "CDN");
  EXPECT_EQ(kind_of_phase("https://lib.cache.test/", {}), "CDN");
  EXPECT_EQ(kind_of_phase("https://x.ads.test:8443/b?c", {}, "dns"), "ads");
  EXPECT_EQ(kind_of_phase("https://exact.test/", {}), "ads");
  EXPECT_EQ(kind_of_phase("https://other.exact.test/", {}), "third party");
  EXPECT_EQ(kind_of_phase("http://shop.test/", {{"status", "301"}}), "redirect");
  EXPECT_EQ(kind_of_phase("http://shop.test/", {{"status", "304"}}), "server");
}

TEST(StandardKinds, TakeNoConnectionForTheRedirectThatComesOverIt) {
  for (auto const* const phase : {"queued", "dns", "connect", "tls"}) {
    EXPECT_EQ(kind_of_phase("http://shop.test/", {{"status", "302"}}, phase), "connection");
  }
  for (auto const* const phase : {"send", "wait", "receive"}) {
    EXPECT_EQ(kind_of_phase("http://shop.test/", {{"status", "302"}}, phase), "redirect");
  }
  // Without phases, all of it.
  EXPECT_EQ(kinds_of("http://shop.test/", {{"status", "302"}}).first, "redirect");
}

TEST(StandardKinds, CountHostsOfThePagesOwnerAsFirstParty) {
  EXPECT_EQ(kind_of_phase("https://img.shopstatic.test/", {}), "server");
  EXPECT_EQ(kind_of_phase("https://elsewhere.test/", {}), "third party");
}

TEST(StandardKinds, GiveGapsAndTheMainThreadToTheClient) {
  auto const& rules = KindRules::standard();
  EXPECT_EQ(rules.kinds()[rules.gap_kind()].name, "client execution");
  CallTree tree{.window_us = 100};
  tree.calls.push_back({.kind = CallKind::kTask, .name = "script", .end_us = 50});
  EXPECT_EQ(rules.classify(tree, Entities()).front(), rules.gap_kind());
}

TEST(StandardKinds, AreInTheirPage) {
  std::ifstream file(KINDS_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  std::istringstream rules{std::string(kStandardKinds)};
  for (std::string line; std::getline(rules, line);) {
    if (line.starts_with("fix ") || line.starts_with("#") || line.empty()) continue;
    EXPECT_THAT(page.str(), HasSubstr("    " + line + "\n"));
  }
  for (Kind const& kind : KindRules::standard().kinds()) {
    EXPECT_EQ(kind.fix.empty(), kind.name == "other") << kind.name;
  }
}

TEST(KindRules, TakeTheFirstRuleThatFits) {
  auto const rules = KindRules::parse(
      "# mine\n\n slow api : host=api.* \r\nall:\nfix all: Do less.\ngaps: thinking\n");
  ASSERT_TRUE(rules) << rules.error();
  CallTree tree{.window_us = 100};
  tree.calls.push_back({.name = "https://api.test/", .end_us = 50});
  tree.calls.push_back({.name = "https://www.test/", .end_us = 50});
  auto const kinds = rules->classify(tree, Entities());
  EXPECT_EQ(rules->kinds()[kinds[0]].name, "slow api");
  EXPECT_EQ(rules->kinds()[kinds[1]].name, "all");
  EXPECT_EQ(rules->kinds()[kinds[1]].fix, "Do less.");
  EXPECT_EQ(rules->kinds()[rules->gap_kind()].name, "thinking");
}

TEST(KindRules, NameTheLineThatIsWrong) {
  auto const fault = [](std::string_view text) {
    auto const rules = KindRules::parse(text);
    return rules ? "none" : rules.error();
  };
  EXPECT_THAT(fault("a: host=x\nb: hots=y\n"),
              StartsWith("line 2: unknown field 'hots'; the fields are host, path"));
  EXPECT_EQ(fault("server\n"), "line 1: a kind, a colon and a filter are needed");
  EXPECT_EQ(fault(": host=x\n"), "line 1: a kind is missing before the colon");
  EXPECT_EQ(fault("gaps:\n"), "line 1: the kind of gaps is missing");
  std::string many;
  for (int i = 0; i < 63; ++i) many += "k" + std::to_string(i) + ": host=a\n";
  EXPECT_EQ(fault(many), "line 63: there are more than 62 kinds");
  std::string const most = many.substr(0, many.find("k62"));
  EXPECT_EQ(fault(most + "gaps: one more\n"), "line 63: there are more than 62 kinds");
  EXPECT_EQ(fault(most + "gaps: k7\n"), "none");
  EXPECT_EQ(fault("gaps: a\ngaps: b\n"), "line 2: the kind of gaps is given twice");
}

TEST(Entities, SayWhatIsWrongWithTheirText) {
  EXPECT_EQ(Entities::parse("{}").error(), "not an array of entities");
  EXPECT_THAT(Entities::parse("[").error(), StartsWith("not JSON"));
  EXPECT_EQ(Entities::parse(R"([{"domains":"a"}])").error(),
            "entities[0].domains must be an array");
}

}  // namespace
}  // namespace reprise
