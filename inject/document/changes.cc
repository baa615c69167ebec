#include "inject/document/changes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/http/url.h"
#include "inject/document/element_changes.h"
#include "inject/document/references.h"
#include "inject/search.h"

namespace reprise::inject {
namespace {

constexpr std::string_view kPreloaded[] = {"script", "style", "image", "font", "fetch"};

bool is_link(const DocumentChange& change) {
  return change.kind == ChangeKind::kPreload || change.kind == ChangeKind::kPreconnect;
}

// What cannot be done to one resource together.
bool contradicts(const DocumentChange& one_change, const DocumentChange& other_change) {
  auto const a = one_change.kind;
  auto const b = other_change.kind;
  // With credentials and without, a browser uses different connections and responses.
  bool const modes_differ = one_change.cross_origin != other_change.cross_origin;
  if (a == b && is_link(one_change) && modes_differ) return false;
  auto const are = [&](ChangeKind one, ChangeKind other) {
    return (a == one && b == other) || (a == other && b == one);
  };
  bool const one_inline = (a == ChangeKind::kInline) != (b == ChangeKind::kInline);
  return a == b || are(ChangeKind::kAsync, ChangeKind::kDefer) ||
         are(ChangeKind::kPriorityHigh, ChangeKind::kPriorityLow) ||
         (one_inline && a != ChangeKind::kPreconnect && b != ChangeKind::kPreconnect);
}

std::expected<std::vector<WantedChange>, std::string> wanted_changes(
    std::span<const DocumentChange> changes) {
  std::vector<WantedChange> wanted;
  std::multimap<std::string, const DocumentChange*> earlier;
  for (const DocumentChange& change : changes) {
    auto const named = "change " + std::to_string(wanted.size() + 1) + ": ";
    auto url = absolute_url(change.url);
    if (!url) {
      return std::unexpected(named + "'" + change.url + "' is not an http or https URL");
    }
    if (change.kind == ChangeKind::kPreconnect) url = std::string(origin_of_url(*url));
    if (change.kind == ChangeKind::kPreload &&
        std::ranges::find(kPreloaded, change.as) == std::end(kPreloaded)) {
      return std::unexpected(named +
                             "a preload needs a type of resource: script, style, image, "
                             "font or fetch, not '" +
                             change.as + "'");
    }
    auto const [first, last] = earlier.equal_range(*url);
    for (auto other = first; other != last; ++other) {
      if (contradicts(change, *other->second)) {
        return std::unexpected(named + "it contradicts or repeats another change of '" + *url +
                               "'");
      }
    }
    earlier.emplace(*url, &change);
    wanted.push_back({.change = change, .url = std::move(*url)});
    bool const font = change.kind == ChangeKind::kPreload && change.as == "font";
    auto& cross_origin = wanted.back().change.cross_origin;
    if (font && cross_origin == CrossOrigin::kNone) cross_origin = CrossOrigin::kAnonymous;
  }
  return wanted;
}

std::string link_of(const WantedChange& wanted, const ChangeOutcome& outcome) {
  const DocumentChange& change = wanted.change;
  bool const preload = change.kind == ChangeKind::kPreload;
  std::string link = preload ? "<link rel=\"preload\"" : "<link rel=\"preconnect\"";
  link += " href=\"" + in_attribute(wanted.url) + '"';
  if (preload) link += " as=\"" + change.as + '"';
  if (outcome.cross_origin == CrossOrigin::kAnonymous) link += " crossorigin=\"anonymous\"";
  if (outcome.cross_origin == CrossOrigin::kUseCredentials) {
    link += " crossorigin=\"use-credentials\"";
  }
  // Without the same integrity a browser does not use the response, and loads it again.
  if (!outcome.integrity.empty()) link += " integrity=\"" + in_attribute(outcome.integrity) + '"';
  if (!outcome.nonce.empty()) link += " nonce=\"" + in_attribute(outcome.nonce) + '"';
  return link + ">";
}

// Changes the elements of the document, except for the links to insert. False if they are too many.
bool change_elements(std::string_view document, const TextEncoding& encoding,
                     const std::string& document_url, std::span<const WantedChange> wanted,
                     ChangedDocument& result, Edits& edits) {
  ElementChanger changer(document, encoding, wanted, result, edits);
  TagReader reader(document, /*scripting=*/true);
  StartTag tag;
  auto base = document_url;
  bool based = false;
  while (reader.next(tag)) {
    if (tag.in_template || !tag.has_all_attributes) continue;
    if (!based && tag.is("base") && find_attribute(tag, document, "href") != nullptr) {
      based = true;
      base = Element(tag, document, encoding).url("href", document_url).value_or(document_url);
    }
    changer.look_at(tag, base);
    if (changer.places() > kPlacesMax) return false;
  }
  changer.finish();
  return true;
}

// False if there is no place for them.
bool insert_links(std::span<const std::byte> document, std::string_view charset,
                  std::span<const WantedChange> wanted, ChangedDocument& result, Edits& edits) {
  std::optional<Search> search;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto& places = result.outcomes[i].places;
    if (!is_link(wanted[i].change) || !places.empty()) continue;
    if (!search) {
      search.emplace(Markup::kHtml, charset);
      search->look(document, true);
    }
    const std::optional<Place>& place = search->place();
    if (!place) return false;
    auto const at = static_cast<std::uint32_t>(place->offset_bytes);
    edits.replace({at, at}, link_of(wanted[i], result.outcomes[i]));
    places.push_back({.offset_bytes = at, .tag = "link", .note = {}});
    result.charset_to_state = place->charset_to_state;
  }
  return true;
}

}  // namespace

std::size_t ChangeOutcome::changed() const {
  return static_cast<std::size_t>(
      std::ranges::count(places, ChangedPlace::Effect::kChanged, &ChangedPlace::effect));
}

std::expected<ChangedDocument, std::string> change_document(
    std::span<const std::byte> document, std::string_view charset, std::string_view document_url,
    std::span<const DocumentChange> changes) {
  auto const wanted = wanted_changes(changes);
  if (!wanted) return std::unexpected(wanted.error());
  auto const url = absolute_url(document_url);
  if (!url) return std::unexpected("the document's URL is not an http or https URL");
  if (document.size() > kDocumentBytesMax) {
    return std::unexpected("the document is larger than 64 MiB");
  }
  auto const encoding = encoding_of_document(document, charset);
  if (encoding.form != TextForm::kAscii) {
    return std::unexpected("documents in the encoding '" + encoding.label + "' cannot be edited");
  }
  ChangedDocument result;
  result.outcomes.resize(wanted->size());
  Edits edits;
  auto const text = text_of(document);
  if (!change_elements(text, encoding, *url, *wanted, result, edits)) {
    return std::unexpected("the document has more than 100,000 elements to change");
  }
  if (!insert_links(document, charset, *wanted, result, edits)) {
    return std::unexpected("the document has no place for a <link>: it has no head within 64 KiB");
  }
  auto const changed = edits.apply(text);
  auto const bytes = bytes_of(changed);
  result.bytes.assign(bytes.begin(), bytes.end());
  return result;
}

}  // namespace reprise::inject
