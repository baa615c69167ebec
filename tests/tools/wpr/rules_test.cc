#include "tools/wpr/input/rules.h"

#include <gmock/gmock.h>

namespace reprise::wpr {
namespace {

using testing::HasSubstr;

std::string problem(std::string_view text) {
  auto const rules = parse_rules(text, "/rules");
  return rules ? "" : rules.error();
}

TEST(WprRules, SelectByUrlOrByPattern) {
  auto const rules = parse_rules(
      R"([{"URL": "https://a.test/x?y", "ExtraHeaders": {"Link": ["</a>", "</b>"]}},
          {"urlpattern": "(?i)^https://[^/]*\\.CDN\\.test/", "InjectedScript": "s.js"},
          {"URLPattern": "img", "Push": [{"URL": "https://a.test/p"}]}])",
      "/rules");
  ASSERT_TRUE(rules) << rules.error();
  ASSERT_EQ(rules->size(), 3U);
  EXPECT_TRUE((*rules)[0].selects("https://a.test/x?y"));
  EXPECT_FALSE((*rules)[0].selects("https://a.test/x?y=1"));
  EXPECT_EQ((*rules)[0].extra_headers, (Headers{{"Link", "</a>"}, {"Link", "</b>"}}));
  EXPECT_TRUE((*rules)[1].selects("https://one.cdn.test/"));
  EXPECT_FALSE((*rules)[1].selects("https://a.test/?u=https://one.cdn.test/"));
  EXPECT_EQ((*rules)[1].script, "/rules/s.js");
  EXPECT_TRUE((*rules)[2].selects("https://a.test/img/1.png")) << "found anywhere in the URL";
  EXPECT_TRUE((*rules)[2].pushes);
}

TEST(WprRules, AbsoluteScriptsStayWhereTheyAre) {
  auto const rules = parse_rules(R"([{"URL": "u", "InjectedScript": "/s.js"}])", "/rules");
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->front().script, "/s.js");
}

TEST(WprRules, AScriptByUrlIsARule) {
  auto const rule = parse_script_by_url("/scripts/a.js::^https://a\\.test/x::y$");
  ASSERT_TRUE(rule) << rule.error();
  EXPECT_EQ(rule->script, "/scripts/a.js");
  EXPECT_TRUE(rule->selects("https://a.test/x::y"));
  EXPECT_FALSE(rule->selects("https://a.test/x"));
  for (auto const* const wrong : {"", "a.js", "::a", "a.js::", "a.js::("}) {
    EXPECT_FALSE(parse_script_by_url(wrong)) << wrong;
  }
}

TEST(WprRules, NoRuleIsGood) {
  EXPECT_EQ(problem("[]"), "");
}

TEST(WprRules, NameTheRuleThatIsWrong) {
  EXPECT_THAT(problem("{"), HasSubstr("is not JSON"));
  EXPECT_THAT(problem("{}"), HasSubstr("must be a list"));
  EXPECT_THAT(problem(R"([{"URL": "u", "ExtraHeaders": {"A": ["b"]}}, 7])"), HasSubstr("rule 2"));
  for (auto const& [rule, wrong] : {
           std::pair{R"({"ExtraHeaders": {"A": ["b"]}})", "either URL or URLPattern"},
           {R"({"URL": "u", "URLPattern": "p", "Push": [1]})", "either URL or URLPattern"},
           {R"({"URL": "u"})", "it has no effect"},
           {R"({"URL": 1, "Push": [1]})", "URL must be a string"},
           {R"({"URLPattern": "(", "Push": [1]})", "URLPattern: missing"},
           {"{\"URLPattern\": \"a(?=b)\", \"Push\": [1]}", "URLPattern: invalid"},
           {R"({"URL": "u", "ExtraHeaders": {"A": "b"}})", "ExtraHeaders"},
           {R"({"URL": "u", "ExtraHeaders": {"A": ["b\r\nC: d"]}})", "ExtraHeaders"},
           {R"({"URL": "u", "ExtraHeaders": {"A b": ["c"]}})", "ExtraHeaders"},
           {R"({"URL": "u", "ExtraHeaders": {"": ["c"]}})", "ExtraHeaders"},
       }) {
    EXPECT_THAT(problem("[" + std::string(rule) + "]"), HasSubstr(wrong)) << rule;
  }
}

}  // namespace
}  // namespace reprise::wpr
