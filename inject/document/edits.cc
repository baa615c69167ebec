#include "inject/document/edits.h"

#include <algorithm>
#include <numeric>

#include "base/http/headers.h"
#include "inject/document/references.h"

namespace reprise::inject {

void Edits::replace(ByteSpan span, std::string text) {
  added_bytes_ += text.size();
  edits_.push_back({.span = span, .text = std::move(text)});
}

std::string Edits::apply(std::string_view text) const {
  std::vector<std::size_t> order(edits_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [this](std::size_t a, std::size_t b) {
    return std::pair(edits_[a].span.begin, a) < std::pair(edits_[b].span.begin, b);
  });
  std::string result;
  result.reserve(text.size() + added_bytes_);
  std::size_t at = 0;
  for (auto const index : order) {
    const Edit& edit = edits_[index];
    result += text.substr(at, edit.span.begin - at);
    result += edit.text;
    at = edit.span.end;
  }
  result += text.substr(at);
  return result;
}

void AttributeEdits::write(const StartTag& tag, std::string_view document, Edits& edits) const {
  for (auto one = values_.begin(); one != values_.end(); ++one) {
    auto const& [name, value] = *one;
    auto const is_same = [&name](const auto& later) { return later.first == name; };
    if (std::any_of(one + 1, values_.end(), is_same)) continue;
    auto const written = value ? name + "=\"" + in_attribute(*value) + '"' : std::string();
    bool found = false;
    for (const TagAttribute& attribute : tag.attributes) {
      if (!equals_ignoring_case(attribute.name.in(document), name)) continue;
      if (value && found) break;
      found = true;
      // A name that begins with '=' must not become the value of what stands before.
      bool const joins = !value && document[attribute.whole.end] == '=';
      edits.replace(attribute.whole, joins ? "/" : written);
    }
    if (value && !found) {
      edits.replace({tag.name_span.end, tag.name_span.end}, ' ' + written);
    }
  }
}

}  // namespace reprise::inject
