#pragma once

// Passes over untrusted JSON.

#include <cstddef>
#include <string>
#include <string_view>

#include "archive/import/source/json_reader.h"

namespace reprise {

/// The limit of a text in a HAR or a trace. URLs of data can be long.
inline constexpr std::size_t kJsonTextBytesMax = 1 << 20;

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
