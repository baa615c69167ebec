// Random documents, with gumbo as the oracle of what their tags are and what changes do.

#include "tests/inject/document/random_document.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "base/http/headers.h"
#include "base/text/white_space.h"
#include "inject/document/references.h"
#include "inject/document/tags.h"
#include "tests/inject/document/change_page.h"
#include "tests/inject/document/parsed_document.h"
#include "tests/test_seed.h"

namespace reprise::inject {
namespace {

constexpr std::size_t kDocuments = rounds_of(10'000);

// Start tags that a tree builder may ignore, or join with an earlier one.
bool can_vanish(std::string_view name) {
  static constexpr std::string_view kNames[] = {"html", "head", "body"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

TEST(TagReader, FindsTheTagsThatGumboFindsInRandomDocuments) {
  std::size_t tags = 0;
  for_seeds(kDocuments, [&](std::uint64_t seed) {
    auto const document = RandomDocument(seed).page();
    std::map<std::size_t, ParsedElement> expected;
    for (ParsedElement& one : parsed_elements(document)) {
      expected.emplace(one.offset_bytes, std::move(one));
    }
    TagReader reader(document, /*scripting=*/false);
    StartTag tag;
    while (reader.next(tag)) {
      ++tags;
      auto const found = expected.find(tag.span.begin);
      if (found == expected.end()) {
        EXPECT_TRUE(can_vanish(tag.name)) << tag.span.in(document) << " in\n" << document;
        continue;
      }
      EXPECT_EQ(tag.name, found->second.name) << document;
      EXPECT_EQ(tag.foreign, found->second.foreign) << document;
      EXPECT_EQ(tag.in_template, found->second.in_template) << document;
      std::map<std::string, std::string> attributes;
      for (const TagAttribute& one : tag.attributes) {
        attributes.emplace(lower_case(one.name.in(document)),
                           attribute_value(one.value.in(document)));
      }
      std::map<std::string, std::string> theirs;
      for (const auto& [name, value] : found->second.attributes) theirs[lower_case(name)] = value;
      if (!can_vanish(tag.name)) EXPECT_EQ(attributes, theirs) << document;
      bool const text = tag.is("script") || tag.is("style");
      if (text)
        EXPECT_EQ(attribute_value(tag.text.in(document)), attribute_value(found->second.text));
      expected.erase(found);
    }
    for (const auto& [offset, one] : expected) {
      ADD_FAILURE() << one.name << " at " << offset << " is missing in\n" << document;
    }
  });
  EXPECT_GT(tags, 5 * kDocuments);
}

// What the changes below do to an element, by the tree.
void change_element(ParsedElement& element) {
  auto& attributes = element.attributes;
  bool const image = element.name == "img" || element.name == "image";
  bool const script = element.name == "script";
  bool const link = element.name == "link";
  bool const fetches = image || script || element.name == "iframe" || link;
  std::string const where = link ? "href" : "src";
  if (element.foreign || element.in_template || !fetches || !attributes.contains(where)) return;
  if (link && (!attributes.contains("rel") || attributes["rel"].empty())) return;
  auto const written = std::string(trim(attributes[where]));
  auto const src = written.substr(0, written.find('#'));
  if (src == "/u0" && script) {
    attributes.erase("defer");
    attributes.try_emplace("async");
  }
  if (src == "/u1" && script) {
    attributes.erase("async");
    attributes.try_emplace("defer");
  }
  auto const set = [&attributes](const std::string& name, const std::string& value) {
    auto& present = attributes[name];
    if (!equals_ignoring_case(present, value)) present = value;
  };
  if (src == "/u0" || src == "/u2") set("fetchpriority", "high");
  if (src == "/u1" || src == "/u3") set("fetchpriority", "low");
  if ((src == "/u2" || src == "/u3") && !script && !link) set("loading", "lazy");
  if (src == "/u4" && image) {
    attributes["src"] = "data:image/png;base64,iVBORw==";
    attributes.erase("crossorigin");
  }
  if (src == "/u5" && script && !attributes.contains("async") && !attributes.contains("defer")) {
    for (auto const* const name : {"src", "integrity", "crossorigin", "fetchpriority"}) {
      attributes.erase(name);
    }
    attributes["inlined"];
  }
}

TEST(ChangeDocument, LeavesTheRestOfTheTreeOfRandomDocuments) {
  auto const change = [](ChangeKind kind, const std::string& path) {
    return change_of(kind, "https://a.test" + path);
  };
  const std::vector<DocumentChange> changes = {
      change(ChangeKind::kAsync, "/u0"),
      change(ChangeKind::kDefer, "/u1"),
      change(ChangeKind::kPriorityHigh, "/u0"),
      change(ChangeKind::kPriorityLow, "/u1"),
      change(ChangeKind::kPriorityHigh, "/u2"),
      change(ChangeKind::kPriorityLow, "/u3"),
      change(ChangeKind::kLazy, "/u2"),
      change(ChangeKind::kLazy, "/u3"),
      inline_of("https://a.test/u4", "image/png", "\x89PNG"),
      inline_of("https://a.test/u5", "text/javascript", "inlined()"),
      preload_of("https://a.test/preloaded", "image")};
  std::vector<std::size_t> changed(changes.size());
  for_seeds(kDocuments, [&](std::uint64_t seed) {
    auto const document = RandomDocument(seed).page();
    auto const result = change_document(bytes_of(document), "utf-8", kPage, changes);
    if (!result) {
      EXPECT_THAT(result.error(), testing::HasSubstr("no place for a <link>")) << document;
      return;
    }
    std::string const text(text_of(result->bytes));
    std::set<std::size_t> added;
    // The texts of scripts are compared without those that were put in.
    auto const expected = parsed_tree(document, [](ParsedElement& element) {
      change_element(element);
      element.text_is_hidden = element.attributes.contains("inlined");
      return true;
    });
    auto const actual = parsed_tree(text, [](ParsedElement& element) {
      bool const inlined = element.name == "script" && element.text == "inlined()";
      if (inlined) element.attributes["inlined"];
      element.text_is_hidden = inlined;
      return !element.attributes.contains("href") ||
             element.attributes["href"] != "https://a.test/preloaded";
    });
    EXPECT_EQ(actual, expected) << document << "\n---\n" << text;
    for (std::size_t i = 0; i < changes.size(); ++i) changed[i] += result->outcomes[i].changed();
    auto const again = change_document(result->bytes, "utf-8", kPage, changes);
    ASSERT_TRUE(again);
    EXPECT_EQ(text_of(again->bytes), text);
  });
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_GT(changed[i], kDocuments / 100) << i;
}

}  // namespace
}  // namespace reprise::inject
