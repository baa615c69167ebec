#include "inject/document/references.h"

#include <gmock/gmock.h>

#include "tests/inject/document/parsed_document.h"

namespace reprise::inject {
namespace {

TEST(AttributeValue, DecodesNumbers) {
  EXPECT_EQ(attribute_value("&#65;&#x41;&#X41&#65"), "AAAA");
  EXPECT_EQ(attribute_value("&#228;&#8364;&#x1F600;"), "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(attribute_value("&#128;&#x99;"), "\xE2\x82\xAC\xE2\x84\xA2");
  EXPECT_EQ(attribute_value("&#0;&#xD800;&#99999999999999999999;"),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(attribute_value("&#;&#x;&#xg;&#"), "&#;&#x;&#xg;&#");
}

TEST(AttributeValue, KeepsQueriesThatLookLikeReferences) {
  EXPECT_EQ(attribute_value("?a=1&copy=2&lt&gt;x&ltx&notit;&"), "?a=1&copy=2<>x&ltx&notit;&");
  EXPECT_EQ(attribute_value("&unknown;&amp"), "&unknown;&");
  EXPECT_EQ(attribute_value("&AMP;&Amp;"), "&&Amp;");
}

TEST(AttributeValue, KeepsOtherBytes) {
  EXPECT_EQ(attribute_value("\xFF\xE9 x"), "\xFF\xE9 x");
  EXPECT_EQ(attribute_value(""), "");
}

TEST(AttributeValue, DecodesEveryNameAsGumboDoes) {
  std::size_t names = 0;
  for (std::string_view rest = kNamedReferences; !rest.empty();) {
    auto const name = rest.substr(0, rest.find_first_of("!="));
    rest.remove_prefix(rest.find(' ') + 1);
    for (auto const* const end : {";", "", "=", "x", " ", "&", ";;", "\""}) {
      auto const raw = "&" + std::string(name) + end;
      auto const elements = parsed_elements("<p a='" + raw + "'>");
      ASSERT_FALSE(elements.empty());
      EXPECT_EQ(attribute_value(raw), elements.back().attributes.at("a")) << raw;
    }
    ++names;
  }
  EXPECT_EQ(names, 2125U);
}

TEST(InAttribute, GivesTheValueBack) {
  for (std::string_view const value : {"a&b", "\"'<>", "&amp;", "?a=1&copy=2"}) {
    EXPECT_EQ(attribute_value(in_attribute(value)), value);
    EXPECT_FALSE(in_attribute(value).contains('"'));
  }
}

}  // namespace
}  // namespace reprise::inject
