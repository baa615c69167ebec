// The documents of real recordings (REPRISE_CORPUS names their folder): without changes they stay;
// with a preload and async of every script, gumbo's tree is equal but for those; the tokenizer
// finds the tags that gumbo finds.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>

#include "archive/import/import.h"
#include "base/coding/coding.h"
#include "base/http/headers.h"
#include "base/http/url.h"
#include "base/text/printable.h"
#include "inject/document/references.h"
#include "inject/response.h"
#include "tests/archive/import/collecting_sink.h"
#include "tests/inject/document/change_page.h"
#include "tests/inject/document/parsed_document.h"

namespace reprise::inject {
namespace {

namespace fs = std::filesystem;

struct RecordedDocument {
  std::string url;
  std::string charset;
  std::string text;
};

struct Figures {
  std::size_t recordings = 0, documents = 0, refused = 0, bytes = 0;
  std::size_t tags = 0, vanished = 0, missing = 0, other_attributes = 0;
  std::size_t preloads = 0, async_scripts = 0, places = 0, not_found = 0, other_trees = 0;
};

// Every different HTML document of a recording; of several with one URL, all.
std::vector<RecordedDocument> documents_in(const fs::path& recording,
                                           std::set<std::string>& known) {
  importing::CollectingSink sink;
  importing::Importer importer(sink, true);
  importer.read_path(recording, nullptr);
  importer.finish();
  std::vector<RecordedDocument> documents;
  for (const Exchange& exchange : sink.exchanges) {
    auto const headers = exchange.response.headers.list();
    auto const kind = kind_of(exchange.response.status, headers, Destination::kDocument);
    if (kind != inject::Kind::kHtml) continue;
    auto const body = sink.body_of(exchange.response.body);
    auto codings = coding::codings_of(headers);
    if (body.empty() || !codings || !known.insert(body).second) continue;
    auto const plain = coding::decode_whole(*codings, bytes_of(body), {});
    // Some recorders decode bodies, and keep the field.
    documents.push_back({.url = url_of(exchange.request),
                         .charset = std::string(header_charset(headers)),
                         .text = plain ? std::string(text_of(*plain)) : body});
  }
  return documents;
}

bool is_noted(std::string_view name) {
  static constexpr std::string_view kNames[] = {"script", "link", "img", "iframe", "base", "style"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

void compare_tags(const RecordedDocument& document, Figures& figures) {
  auto const text = as_utf8(document.text);
  std::map<std::size_t, ParsedElement> expected;
  for (ParsedElement& one : parsed_elements(text)) {
    expected.emplace(one.offset_bytes, std::move(one));
  }
  TagReader reader(text, /*scripting=*/false);
  StartTag tag;
  while (reader.next(tag)) {
    ++figures.tags;
    auto const found = expected.find(tag.span.begin);
    if (found == expected.end()) {
      ++figures.vanished;
      if (is_noted(tag.name)) {
        std::cout << document.url << ": only ours: " << tag.span.in(text).substr(0, 200) << '\n';
      }
      continue;
    }
    for (auto const* const name : {"src", "href", "srcset", "rel", "type"}) {
      auto const theirs = found->second.attributes.find(name);
      auto const* const ours = find_attribute(tag, text, name);
      bool const same =
          (ours != nullptr) == (theirs != found->second.attributes.end()) &&
          (ours == nullptr || attribute_value(ours->value.in(text)) == theirs->second);
      if (tag.foreign || same) continue;
      ++figures.other_attributes;
      std::cout << document.url << ": other " << name << ": " << tag.span.in(text).substr(0, 300)
                << '\n';
    }
    expected.erase(found);
  }
  for (const auto& [offset, one] : expected) {
    ++figures.missing;
    std::cout << document.url << ": only gumbo's at " << offset << ": " << one.name << '\n';
  }
}

// Every script of the document, by gumbo.
std::vector<DocumentChange> changes_for(const RecordedDocument& document,
                                        std::string_view document_url) {
  std::set<std::string> urls;
  std::string base(document_url);
  bool based = false;
  for (ParsedElement& one : parsed_elements(as_utf8(document.text))) {
    if (one.name == "base" && !based && one.attributes.contains("href")) {
      based = true;
      base = resolved_url(one.attributes["href"], document_url).value_or(base);
    }
    if (one.name != "script" || one.foreign || !one.attributes.contains("src")) continue;
    if (auto url = resolved_url(one.attributes["src"], base)) urls.insert(std::move(*url));
  }
  std::vector<DocumentChange> changes;
  for (const std::string& url : urls) {
    changes.push_back(preload_of(url, "script"));
    changes.push_back(change_of(ChangeKind::kAsync, url));
  }
  return changes;
}

void compare_changed(const RecordedDocument& document, Figures& figures) {
  auto const url = absolute_url(document.url);
  ASSERT_TRUE(url) << document.url;
  auto const same = change_document(bytes_of(document.text), document.charset, *url, {});
  if (!same) {
    ++figures.refused;
    std::cout << document.url << ": " << same.error() << '\n';
    return;
  }
  EXPECT_EQ(text_of(same->bytes), document.text) << document.url;
  auto const changes = changes_for(document, *url);
  auto const changed = change_document(bytes_of(document.text), document.charset, *url, changes);
  ASSERT_TRUE(changed) << document.url << ": " << changed.error();
  std::set<std::string> added;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    bool const preload = changes[i].kind == ChangeKind::kPreload;
    auto const& places = changed->outcomes[i].places;
    figures.places += places.size();
    (preload ? figures.preloads : figures.async_scripts) += changed->outcomes[i].changed();
    if (preload && changed->outcomes[i].changed() == 1) added.insert(changes[i].url);
    if (places.empty()) {
      ++figures.not_found;
      std::cout << document.url << ": not found: " << changes[i].url << '\n';
    }
  }
  auto const tree = [&added](const std::string& text, bool drop) {
    return parsed_tree(as_utf8(text), [&](ParsedElement& one) {
      if (one.name == "script") {
        one.attributes.erase("async");
        one.attributes.erase("defer");
      }
      bool const ours = drop && one.name == "link" && one.attributes["rel"] == "preload" &&
                        one.attributes.size() == 3 && added.erase(one.attributes["href"]) == 1;
      return !ours;
    });
  };
  auto const before = tree(document.text, false);
  bool const equal = tree(std::string(text_of(changed->bytes)), true) == before;
  EXPECT_TRUE(equal && added.empty()) << document.url;
  if (!equal) ++figures.other_trees;
}

TEST(DocumentCorpus, EveryDocumentIsReadAndChangedAsItsTreeSays) {
  const char* const folder = std::getenv("REPRISE_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "REPRISE_CORPUS names no folder";
  Figures figures;
  std::set<std::string> known;
  std::vector<fs::path> recordings;
  for (auto const& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.file_size() <= (64 << 20)) {
      recordings.push_back(entry.path());
    }
  }
  std::ranges::sort(recordings);
  for (const fs::path& recording : recordings) {
    auto const documents = documents_in(recording, known);
    if (!documents.empty()) ++figures.recordings;
    for (const RecordedDocument& document : documents) {
      ++figures.documents;
      figures.bytes += document.text.size();
      compare_tags(document, figures);
      compare_changed(document, figures);
    }
  }
  std::cout << figures.documents << " documents of " << figures.recordings << " recordings, "
            << figures.bytes << " bytes, " << figures.refused << " refused\n"
            << figures.tags << " tags, " << figures.missing << " missing, " << figures.vanished
            << " that gumbo ignores, " << figures.other_attributes << " other attributes\n"
            << figures.preloads << " preloads, " << figures.async_scripts << " async scripts, "
            << figures.places << " places, " << figures.not_found << " URLs not found, "
            << figures.other_trees << " other trees\n";
  EXPECT_GT(figures.documents, 100U);
  EXPECT_EQ(figures.missing + figures.other_attributes, 0U);
}

}  // namespace
}  // namespace reprise::inject
