#include "view/explain_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string_view>

namespace reprise {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// The explanation inside a page, as it stands there.
std::string model_in(const std::string& page) {
  constexpr std::string_view kBefore = R"(id="model">)";
  auto const begin = page.find(kBefore) + kBefore.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(ExplainPage, NamesCannotEndTheScriptThatHoldsThem) {
  constexpr std::string_view kHostile =
      "</script><!--<script>alert(1)</script>\xE2\x80\xA8\xE2\x80\xAE& MODEL SCRIPT STYLE";
  json::object const explanation = {{"names", {kHostile}}, {"where", kHostile}};
  auto const page = explain_page(explanation);
  auto const model = model_in(page);
  for (auto const* unsafe : {"<", ">", "&", "\xE2\x80\xA8", "\xE2\x80\xAE"}) {
    EXPECT_THAT(model, Not(HasSubstr(unsafe)));
  }
  EXPECT_EQ(json::parse(model), json::value(explanation));
}

TEST(ExplainPage, BytesThatAreNotUtf8HideNoMarkup) {
  // The first byte of a longer character must not take what follows it along.
  auto const model = model_in(explain_page({{"where", "\xE2</script>\xF0\"\xC3<"}}));
  EXPECT_THAT(model, Not(HasSubstr("<")));
  EXPECT_EQ(json::parse(model).at("where").as_string(),
            "\xEF\xBF\xBD</script>\xEF\xBF\xBD\"\xEF\xBF\xBD<");
}

TEST(ExplainPage, FetchesNothingAndRunsOnlyItsOwnScript) {
  auto const page = explain_page({});
  EXPECT_THAT(page, HasSubstr("default-src 'none'; base-uri 'none'; form-action 'none'; "
                              "img-src data:; script-src 'sha256-"));
  EXPECT_THAT(page, HasSubstr("<title>reprise explain</title>"));
  for (auto const* fetching : {" src=", "@import", "url(", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(fetching)));
  }
}

}  // namespace
}  // namespace reprise
