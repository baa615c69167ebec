#pragma once

// Passes over untrusted JSON.

#include <cstddef>
#include <string>
#include <string_view>

#include "archive/import/source/json_reader.h"

namespace reprise {

/// Longer texts in a HAR or a trace are cut: inline images are in URLs.
inline constexpr std::size_t kJsonTextBytesMax = 1 << 20;

/// The start of a text; sets `is_cut` if the text is longer.
inline std::string limited_text(importing::JsonReader& json, bool& is_cut) {
  return json.text_up_to(kJsonTextBytesMax, is_cut);
}

/// The same of a URL. Empty if it is cut and has the scheme data: its start names nothing.
inline std::string limited_url(importing::JsonReader& json, bool& is_cut) {
  bool is_long = false;
  auto url = limited_text(json, is_long);
  if (!is_long) return url;
  is_cut = true;
  return url.starts_with("data:") ? std::string() : url;
}

/// Calls `take(name)` for each member of an object; it has to take the value. Other values are
/// skipped.
template <class Take>
void for_members(importing::JsonReader& json, const Take& take) {
  std::string name;
  if (!json.enter_object()) return;
  while (json.next_member(name)) take(std::string_view(name));
}

/// Calls `take()` for each element of an array, as for_members().
template <class Take>
void for_elements(importing::JsonReader& json, const Take& take) {
  if (!json.enter_array()) return;
  while (json.next_element()) take();
}

}  // namespace reprise
