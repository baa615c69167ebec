#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "inject/search.h"

namespace reprise::inject {

/// Searches `document` as it arrives in pieces of `piece_bytes`.
inline std::optional<Place> find_place(Markup markup, std::string_view charset,
                                       std::string_view document,
                                       std::size_t piece_bytes = 1 << 30) {
  Search search(markup, charset);
  for (std::size_t at = 0;; at += std::min(piece_bytes, document.size() - at)) {
    auto const known = at + std::min(piece_bytes, document.size() - at);
    if (search.look(bytes_of(document.substr(0, known)), known == document.size())) break;
    if (known == document.size()) std::abort();  // the end always brings the answer
  }
  return search.place();
}

inline std::string with_script(std::string_view document, const Place& place,
                               std::string_view element) {
  std::string result(document);
  return result.insert(place.offset_bytes, in_form(element, place));
}

/// `text` in UTF-16; only for code points below 0x10000, given as UTF-8.
std::string utf16(std::string_view text, bool little);

}  // namespace reprise::inject
