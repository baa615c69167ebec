// Documents of any form: their tags have places in order and take a bounded number of steps;
// changes leave every other tag; a second time they change nothing.

#include <cstdlib>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "inject/document/changes.h"

using namespace reprise;
using namespace reprise::inject;

namespace {

constexpr std::string_view kPage = "https://a.test/d/page";
constexpr std::string_view kAdded = "https://a.test/added";

void check(bool holds) {
  if (!holds) std::abort();
}

// The names of the tags, of a changed document without those that were added.
std::vector<std::string> names_of(std::string_view document, bool scripting) {
  std::vector<std::string> names;
  TagReader reader(document, scripting);
  StartTag tag;
  std::size_t end = 0;
  while (reader.next(tag)) {
    check(tag.span.begin >= end && tag.span.end <= document.size());
    check(document[tag.span.begin] == '<' && document[tag.span.end - 1] == '>');
    end = tag.name_span.end;
    check(tag.name.size() == tag.name_span.size());
    for (const TagAttribute& one : tag.attributes) {
      check(one.whole.begin >= end && one.name.begin == one.whole.begin);
      check(one.name.end <= one.whole.end && one.value.begin >= one.name.end);
      check(one.value.end <= one.whole.end || one.value.size() == 0);
      end = one.whole.end;
    }
    check(end < tag.span.end);
    check(tag.text.size() == 0 || tag.text.begin == tag.span.end);
    check(tag.end_tag.size() == 0 || tag.end_tag.end <= document.size());
    end = tag.span.end;
    auto const* const href = find_attribute(tag, document, "href");
    if (href != nullptr && href->value.in(document) == kAdded) continue;
    names.push_back(tag.name == "style" ? "link" : tag.name);
  }
  check(reader.steps() <= 3 * document.size() + 16);
  return names;
}

std::vector<DocumentChange> changes_of(std::uint8_t choice) {
  auto const at = [](const char* path) { return "https://a.test" + std::string(path); };
  auto const one = [&](ChangeKind kind, const char* path) {
    return DocumentChange{.kind = kind, .url = at(path)};
  };
  auto const put = [&](const char* path, const char* type, std::string_view body) {
    return DocumentChange{
        .kind = ChangeKind::kInline, .url = at(path), .media_type = type, .body = bytes_of(body)};
  };
  std::vector<DocumentChange> changes = {
      one(ChangeKind::kAsync, "/0"),
      one(ChangeKind::kPriorityHigh, "/0"),
      one(ChangeKind::kDefer, "/1"),
      one(ChangeKind::kLazy, "/2"),
      one(ChangeKind::kPriorityLow, "/2"),
      put("/3", "text/javascript", "f('\xC3\xA9')"),
      put("/4", "text/css;charset=utf-8", "a{b:url(c\xC3\xA9)}"),
      put("/5", "image/png", "\x89PNG"),
  };
  if ((choice & 0x40) != 0) {
    changes.push_back({.kind = ChangeKind::kPreload, .url = std::string(kAdded), .as = "image"});
  }
  return changes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::string_view kCharsets[] = {"utf-8", "windows-1252", "gb18030", "shift_jis"};
  if (size == 0) return 0;
  auto const charset = kCharsets[data[0] % std::size(kCharsets)];
  auto const bytes = std::as_bytes(std::span(data + 1, size - 1));
  auto const document = text_of(bytes);
  names_of(document, false);
  auto const same = change_document(bytes, charset, kPage, {});
  if (!same) return 0;  // UTF-16 by a byte order mark
  check(text_of(same->bytes) == document);

  auto const changes = changes_of(data[0]);
  auto const changed = change_document(bytes, charset, kPage, changes);
  if (!changed) {
    check((data[0] & 0x40) != 0);
    return 0;
  }
  check(names_of(text_of(changed->bytes), true) == names_of(document, true));
  auto const again = change_document(changed->bytes, charset, kPage, changes);
  check(again && again->bytes == changed->bytes);
  return 0;
}
