#include "inject/document/elements.h"

#include <algorithm>

#include "base/http/headers.h"
#include "base/http/media_type.h"
#include "base/http/url.h"
#include "base/text/white_space.h"
#include "inject/document/references.h"
#include "inject/document/source_set.h"

namespace reprise::inject {
std::optional<std::string_view> Element::raw(std::string_view attribute) const {
  auto const* const found = find_attribute(tag_, document_, attribute);
  if (found == nullptr) return std::nullopt;
  return found->value.in(document_);
}

bool Element::has(std::string_view attribute) const {
  return raw(attribute).has_value();
}

std::string Element::value(std::string_view attribute) const {
  auto const text = in_utf8(raw(attribute).value_or(""), encoding_);
  return text ? attribute_value(*text) : std::string();
}

std::optional<std::string> Element::url(std::string_view attribute, std::string_view base) const {
  auto const written = raw(attribute);
  if (!written) return std::nullopt;
  auto const question = std::min(written->find('?'), written->size());
  auto const path = in_utf8(written->substr(0, question), encoding_);
  if (!path) return std::nullopt;
  auto const text = attribute_value(*path + std::string(written->substr(question)));
  if (trim(text).empty()) return std::nullopt;
  return resolved_url(text, base);
}

std::vector<std::string> Element::set_urls(std::string_view attribute,
                                           std::string_view base) const {
  std::vector<std::string> urls;
  auto const text = value(attribute);
  for (auto const written : source_set_urls(text)) {
    if (auto url = resolved_url(written, base)) urls.push_back(std::move(*url));
  }
  return urls;
}

// A tree builder takes <image> as <img>.
bool Element::is_image() const {
  return tag_.is("img") || tag_.is("image");
}

// WHATWG HTML section 4.12.1.1, "prepare the script element".
ScriptKind Element::script_kind() const {
  if (!tag_.is("script") || trim(value("src")).empty()) return ScriptKind::kNone;
  auto type = lower_case(trim(value("type")));
  if (has("type") ? value("type").empty() : value("language").empty()) {
    type = "text/javascript";
  } else if (!has("type")) {
    type = "text/" + lower_case(value("language"));
  }
  if (type == "module") return ScriptKind::kModule;
  return is_javascript(type) && !has("nomodule") ? ScriptKind::kClassic : ScriptKind::kNone;
}

bool Element::has_rel(std::string_view type) const {
  auto const text = lower_case(value("rel"));
  for (auto rest = trim(text); !rest.empty(); rest = trim(rest)) {
    auto const* const end = std::ranges::find_if(rest, is_white_space);
    auto const word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    if (word == type) return true;
    rest.remove_prefix(word.size());
  }
  return false;
}

CrossOrigin Element::cross_origin() const {
  if (!has("crossorigin")) return CrossOrigin::kNone;
  return equals_ignoring_case(value("crossorigin"), "use-credentials")
             ? CrossOrigin::kUseCredentials
             : CrossOrigin::kAnonymous;
}

}  // namespace reprise::inject
