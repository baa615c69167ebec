// The tokenizer data of html5lib-tests: the start tags of each case that begins in the data,
// RAWTEXT or script data state are found. REPRISE_HTML5LIB_TESTS names the folder that "tokenizer"
// lies in.

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "base/http/headers.h"
#include "base/system/text_file.h"
#include "inject/document/references.h"
#include "inject/document/tags.h"

namespace reprise::inject {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

using Tags = std::vector<std::pair<std::string, std::map<std::string, std::string>>>;

Tags expected_tags(const json::array& output) {
  Tags tags;
  for (const json::value& token : output) {
    if (!token.is_array() || token.at(0).as_string() != "StartTag") continue;
    auto& [name, attributes] = tags.emplace_back();
    name = token.at(1).as_string();
    for (const auto& [key, value] : token.at(2).as_object()) {
      attributes.emplace(key, value.as_string());
    }
  }
  return tags;
}

// A name or value in which NUL is U+FFFD, as a tokenizer has it.
std::string without_nul(std::string_view text) {
  std::string result;
  for (char const c : text) result += c == '\0' ? "\xEF\xBF\xBD" : std::string(1, c);
  return result;
}

Tags tags_after(const std::string& before, const std::string& input) {
  auto const document = before + input;
  TagReader reader(document, /*scripting=*/true);
  StartTag tag;
  Tags tags;
  while (reader.next(tag)) {
    if (tag.span.begin < before.size()) continue;
    auto& [name, attributes] = tags.emplace_back();
    name = without_nul(tag.name);
    for (const TagAttribute& one : tag.attributes) {
      attributes.emplace(without_nul(lower_case(one.name.in(document))),
                         attribute_value(one.value.in(document)));
    }
  }
  return tags;
}

/// What brings TagReader into a state of html5lib's.
std::optional<std::string> text_before(std::string_view state, std::string_view last_tag) {
  if (state == "Data state") return "";
  if (state == "RAWTEXT state" && last_tag == "xmp") return "<xmp>";
  if (state == "Script data state" && (last_tag == "script" || last_tag.empty())) {
    return "<script>";
  }
  return std::nullopt;
}

TEST(Html5libTokenizer, EveryStartTagIsFound) {
  const char* const folder = std::getenv("REPRISE_HTML5LIB_TESTS");
  if (folder == nullptr) GTEST_SKIP() << "REPRISE_HTML5LIB_TESTS is not set";
  std::size_t cases = 0, tags = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / "tokenizer")) {
    auto const text = read_text_file(entry.path(), 64 << 20);
    ASSERT_TRUE(text);
    auto const root = json::parse(*text, {}, {.allow_invalid_utf8 = true});
    if (!root.as_object().contains("tests")) continue;
    for (const json::value& one : root.at("tests").as_array()) {
      const json::object& fields = one.as_object();
      if (fields.contains("doubleEscaped")) continue;
      json::array const data = {"Data state"};
      auto const* const named = fields.if_contains("initialStates");
      auto const* const last = fields.if_contains("lastStartTag");
      std::string const input(fields.at("input").as_string());
      auto const expected = expected_tags(fields.at("output").as_array());
      for (const json::value& state : named != nullptr ? named->as_array() : data) {
        auto const before = text_before(state.as_string(),
                                        last != nullptr ? std::string_view(last->as_string()) : "");
        if (!before) continue;
        EXPECT_EQ(tags_after(*before, input), expected)
            << entry.path().filename() << ": " << fields.at("description").as_string() << ": "
            << input;
        ++cases;
        tags += expected.size();
      }
    }
  }
  EXPECT_GT(cases, 1000U);
  std::cout << cases << " cases, " << tags << " start tags\n";
}

}  // namespace
}  // namespace reprise::inject
