#include "inject/document/element_changes.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/http/headers.h"
#include "base/http/url.h"
#include "base/text/white_space.h"

namespace reprise::inject {
namespace {

using Effect = ChangedPlace::Effect;

constexpr char kBySet[] = "by srcset: the browser may choose another of its images";

// The types of links whose resource a browser fetches.
bool is_fetched(const Element& link) {
  static constexpr std::string_view kTypes[] = {"stylesheet", "preload", "modulepreload",
                                                "prefetch",   "icon",    "manifest"};
  return std::ranges::any_of(kTypes, [&](std::string_view type) { return link.has_rel(type); });
}

bool fetches_module(const Element& element) {
  if (element.script_kind() == ScriptKind::kModule) return true;
  if (!element.tag().is("link") || !element.has_rel("modulepreload")) return false;
  auto const as = lower_case(element.value("as"));
  return as.empty() || as == "script";
}

// The mode in which the element fetches a resource of this type; nothing if it does not fetch it.
// A preload is used only if it has the same mode (WHATWG HTML, "consume a preloaded resource").
std::optional<CrossOrigin> mode_of_use(const Element& element, std::string_view as, bool by_set) {
  if (as == "image" && element.is_image()) return element.cross_origin();
  if (by_set) return std::nullopt;
  bool const style = element.tag().is("link") && element.has_rel("stylesheet");
  if (as == "style" && style) return element.cross_origin();
  if (as != "script") return std::nullopt;
  if (element.script_kind() == ScriptKind::kClassic) return element.cross_origin();
  if (!fetches_module(element)) return std::nullopt;
  // A module is always fetched with CORS (WHATWG HTML, "fetch a single module script").
  auto const mode = element.cross_origin();
  return mode == CrossOrigin::kNone ? CrossOrigin::kAnonymous : mode;
}

// An integrity or a nonce, with single spaces between its words; empty if it is invalid. The result
// can stand in a quoted string of a header field.
std::string words_of_attribute(const Element& element, std::string_view attribute) {
  std::string words;
  for (char const c : element.value(attribute)) {
    if (is_white_space(c)) {
      if (!words.empty() && words.back() != ' ') words += ' ';
    } else if (c <= ' ' || c > '~' || c == '"' || c == '\\') {
      return {};
    } else {
      words += c;
    }
  }
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

}  // namespace

ElementChanger::ElementChanger(std::string_view document, const TextEncoding& encoding,
                               std::span<const WantedChange> changes, ChangedDocument& result,
                               Edits& edits)
    : document_(document), encoding_(encoding), changes_(changes), result_(result), edits_(edits) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    by_url_.emplace(changes[i].url, i);
    result.outcomes[i].cross_origin = changes[i].change.cross_origin;
    result.outcomes[i].nonce = changes[i].change.nonce;
  }
}

void ElementChanger::look_at(const StartTag& tag, std::string_view base) {
  if (changes_.empty()) return;
  Element const element(tag, document_, encoding_);
  if (tag.is("meta") &&
      equals_ignoring_case(element.value("http-equiv"), "content-security-policy")) {
    has_policy_ = true;
  }
  if (tag.is("picture") || !tag.in_picture) sources_.clear();
  if (tag.is("source") && tag.in_picture) {
    for (std::string& each : element.set_urls("srcset", base)) sources_.push_back(std::move(each));
    return;
  }
  bool const link = tag.is("link");
  if (!link && !element.is_image() && !tag.is("script") && !tag.is("iframe")) return;
  auto const url = element.url(link ? "href" : "src", base);
  auto set = link || element.is_image() ? element.set_urls(link ? "imagesrcset" : "srcset", base)
                                        : std::vector<std::string>();
  if (element.is_image()) {
    std::ranges::move(sources_, std::back_inserter(set));
    sources_.clear();
  }
  if (!url && set.empty()) return;
  attributes_ = {};
  has_priority_ = false;
  // An origin, as of a preconnect, is no URL: it has no path.
  std::map<std::size_t, bool> found;  // whether only by a set
  auto const find = [&](std::string_view of, bool by_set) {
    auto const [first, last] = by_url_.equal_range(of);
    for (auto each = first; each != last; ++each) found.try_emplace(each->second, by_set);
  };
  if (url) find(*url, false);
  if (url) find(origin_of_url(*url), false);
  for (const std::string& each : set) find(each, true);
  for (auto const& [index, by_set] : found) {
    index_ = index;
    apply(element, by_set);
  }
  attributes_.write(tag, document_, edits_);
}

void ElementChanger::apply(const Element& element, bool by_set) {
  switch (changes_[index_].change.kind) {
    case ChangeKind::kPreload:
      return find_preload(element, by_set);
    case ChangeKind::kPreconnect:
      return find_preconnect(element);
    case ChangeKind::kPriorityHigh:
      return set_priority(element, "high", by_set);
    case ChangeKind::kPriorityLow:
      return set_priority(element, "low", by_set);
    case ChangeKind::kAsync:
    case ChangeKind::kDefer:
      return set_loading(element, changes_[index_].change.kind == ChangeKind::kAsync);
    case ChangeKind::kLazy:
      return set_lazy(element, by_set);
    case ChangeKind::kInline:
      return put_inline(element, by_set);
  }
}

void ElementChanger::add_place(const Element& element, Effect effect, std::string note) {
  ++places_;
  result_.outcomes[index_].places.push_back({.offset_bytes = element.tag().span.begin,
                                             .tag = element.tag().name,
                                             .effect = effect,
                                             .note = std::move(note)});
}

void ElementChanger::find_preconnect(const Element& element) {
  if (!element.tag().is("link") || !element.has_rel("preconnect")) return;
  bool const same = element.cross_origin() == changes_[index_].change.cross_origin;
  if (same) add_place(element, Effect::kAlready);
}

// Whether an element that fetches the resource in this mode decides how the change preloads it: any
// element does, unless another change preloads the same resource in another mode.
bool ElementChanger::is_preload_for(CrossOrigin mode) const {
  const WantedChange& wanted = changes_[index_];
  if (mode == wanted.change.cross_origin) return true;
  auto const [first, last] = by_url_.equal_range(wanted.url);
  return std::ranges::none_of(first, last, [&](auto const& each) {
    const DocumentChange& other = changes_[each.second].change;
    return each.second != index_ && other.kind == ChangeKind::kPreload &&
           other.as == wanted.change.as;
  });
}

void ElementChanger::find_preload(const Element& element, bool by_set) {
  const DocumentChange& change = changes_[index_].change;
  auto const mode = mode_of_use(element, change.as, by_set);
  if (mode && is_preload_for(*mode) && fetched_.insert(index_).second) {
    auto& outcome = result_.outcomes[index_];
    outcome.cross_origin = *mode;
    if (change.as != "image") {
      outcome.integrity = words_of_attribute(element, "integrity");
      outcome.nonce = words_of_attribute(element, "nonce");
    }
  }
  if (!element.tag().is("link") || !element.has_rel("preload")) return;
  if (!equals_ignoring_case(element.value("as"), change.as)) return;
  ++places_;
  preloads_.push_back({.index = index_,
                       .cross_origin = element.cross_origin(),
                       .integrity = words_of_attribute(element, "integrity"),
                       .place = {.offset_bytes = element.tag().span.begin,
                                 .tag = element.tag().name,
                                 .effect = Effect::kAlready,
                                 .note = {}}});
}

void ElementChanger::finish() {
  for (FoundPreload& each : preloads_) {
    auto& outcome = result_.outcomes[each.index];
    // An element that demands nothing uses a preload that does, too.
    bool const demanded = outcome.integrity.empty() || each.integrity == outcome.integrity;
    bool const same = demanded && each.cross_origin == outcome.cross_origin;
    if (same) outcome.places.push_back(std::move(each.place));
  }
  preloads_.clear();
}

void ElementChanger::set_priority(const Element& element, std::string_view priority, bool by_set) {
  const StartTag& tag = element.tag();
  bool const fetches = tag.is("script") ? element.script_kind() != ScriptKind::kNone
                                        : !tag.is("link") || is_fetched(element);
  if (!fetches) return;
  // A srcset has several URLs.
  if (has_priority_) return refuse(element, "another change sets the priority of this element");
  has_priority_ = true;
  if (equals_ignoring_case(element.value("fetchpriority"), priority)) {
    return add_place(element, Effect::kAlready);
  }
  attributes_.set("fetchpriority", std::string(priority));
  add_place(element, Effect::kChanged, by_set ? kBySet : "");
}

void ElementChanger::set_loading(const Element& element, bool is_async) {
  auto const kind = element.script_kind();
  if (kind == ScriptKind::kNone) return;
  if (kind == ScriptKind::kModule && !is_async) {
    return add_place(element, Effect::kAlready, "a module script is always deferred");
  }
  std::string const wanted = is_async ? "async" : "defer";
  std::string const other = is_async ? "defer" : "async";
  if (element.has(wanted) && !element.has(other)) return add_place(element, Effect::kAlready);
  if (!element.has(wanted)) attributes_.set(wanted, "");
  attributes_.remove(other);
  add_place(element, Effect::kChanged);
}

void ElementChanger::set_lazy(const Element& element, bool by_set) {
  if (!element.is_image() && !element.tag().is("iframe")) return;
  if (equals_ignoring_case(element.value("loading"), "lazy")) {
    return add_place(element, Effect::kAlready);
  }
  attributes_.set("loading", "lazy");
  add_place(element, Effect::kChanged, by_set ? kBySet : "");
}

void ElementChanger::put_inline(const Element& element, bool by_set) {
  if (has_policy_) {
    return refuse(element, "a <meta> of the document sets a Content-Security-Policy");
  }
  const StartTag& tag = element.tag();
  if (tag.is("script")) {
    if (element.script_kind() != ScriptKind::kNone && fits(element)) put_script_inline(element);
  } else if (element.is_image()) {
    if (fits(element)) put_image_inline(element, by_set);
  } else if (tag.is("link") && element.has_rel("stylesheet") && !by_set) {
    if (fits(element)) put_style_inline(element);
  }
}

bool ElementChanger::fits(const Element& element) {
  // Base64 takes 4 bytes for 3, and so can absolute URLs.
  auto const bytes = changes_[index_].change.body.size() / 3 * 4 + 1024;
  if (document_.size() + edits_.added_bytes() + bytes <= kDocumentBytesMax) return true;
  refuse(element, "the document would be larger than 64 MiB");
  return false;
}

// The resource as the text of the element; nothing if it is refused.
std::optional<InlineText> ElementChanger::inline_text(const Element& element) {
  auto charset = element.value("charset");
  if (!encoding_of_label(charset)) charset.clear();
  std::pair const key(index_, element.tag().name + ' ' + charset);
  if (auto const unfit = unfit_.find(key); unfit != unfit_.end()) {
    refuse(element, unfit->second);
    return std::nullopt;
  }
  auto const make = element.tag().is("script") ? inline_script : inline_style;
  auto text = make(changes_[index_].change, charset, encoding_);
  if (text) return std::move(*text);
  refuse(element, text.error());
  unfit_.emplace(key, std::move(text.error()));
  return std::nullopt;
}

void ElementChanger::put_script_inline(const Element& element) {
  const StartTag& tag = element.tag();
  if (element.script_kind() == ScriptKind::kModule) {
    return refuse(element, "a module script's imports are relative to its URL");
  }
  if (element.has("async")) {
    return refuse(element, "an async script does not block; an inline script would");
  }
  if (element.has("defer")) {
    return refuse(element, "a deferred script runs after parsing; an inline script cannot");
  }
  if (tag.end_tag.size() == 0) return refuse(element, "its end tag is missing");
  auto script = inline_text(element);
  if (!script) return;
  for (auto const* const name :
       {"src", "integrity", "crossorigin", "charset", "fetchpriority", "referrerpolicy"}) {
    attributes_.remove(name);
  }
  edits_.replace(tag.text, std::move(script->text));
  result_.script_hash_sources.push_back(std::move(script->hash_source));
  add_place(element, Effect::kChanged);
}

void ElementChanger::put_style_inline(const Element& element) {
  const StartTag& tag = element.tag();
  if (element.has("disabled") || element.has_rel("alternate")) {
    return refuse(element, "the style sheet is not in use");
  }
  auto const type = lower_case(element.value("type"));
  if (!type.empty() && type != "text/css") return;
  auto style = inline_text(element);
  if (!style) return;
  for (auto const* const name : {"rel", "href", "integrity", "crossorigin", "charset", "as",
                                 "fetchpriority", "referrerpolicy", "hreflang", "blocking"}) {
    attributes_.remove(name);
  }
  edits_.replace(tag.name_span, "style");
  edits_.replace({tag.span.end, tag.span.end}, style->text + "</style>");
  add_place(element, Effect::kChanged);
}

void ElementChanger::put_image_inline(const Element& element, bool by_set) {
  if (by_set) return refuse(element, "the image is in srcset, of which the browser chooses");
  auto const written = element.value("src");
  if (written.contains('#')) return refuse(element, "its URL has a fragment");
  auto url = inline_image(changes_[index_].change);
  if (!url) return refuse(element, std::move(url.error()));
  attributes_.set("src", std::move(*url));
  attributes_.remove("crossorigin");
  add_place(element, Effect::kChanged,
            element.has("srcset") ? "the browser may choose an image of srcset instead" : "");
}

}  // namespace reprise::inject
