#include "base/http/headers.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/white_space.h"

namespace reprise {

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return to_lower(x) == to_lower(y);
         });
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return equals_ignoring_case(text.substr(0, prefix.size()), prefix);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

std::optional<std::string_view> find_header(HeaderList headers, std::string_view name) {
  for (const HeaderView& field : headers) {
    if (equals_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

bool header_has_token(HeaderList headers, std::string_view name, std::string_view token) {
  for (const HeaderView& field : headers) {
    if (!equals_ignoring_case(field.name, name)) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      auto const comma = std::min(rest.find(','), rest.size());
      if (equals_ignoring_case(trim_blanks(rest.substr(0, comma)), token)) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

Headers::Headers(HeaderList fields) {
  std::size_t total = 0;
  for (const HeaderView& field : fields) total += field.name.size() + field.value.size();
  text_ = std::make_unique_for_overwrite<char[]>(total);
  fields_.reserve(fields.size());
  char* next = text_.get();
  auto const keep = [&next](std::string_view text) {
    std::string_view const kept(next, text.size());
    next = std::ranges::copy(text, next).out;
    return kept;
  };
  for (const HeaderView& field : fields) {
    auto const name = keep(field.name);
    fields_.push_back({.name = name, .value = keep(field.value)});
  }
}

Headers::Headers(std::initializer_list<HeaderView> fields)
    : Headers(HeaderList(fields.begin(), fields.size())) {}

Headers& Headers::operator=(const Headers& other) {
  if (this != &other) *this = Headers(other.list());
  return *this;
}

bool Headers::operator==(const Headers& other) const {
  return std::equal(fields_.begin(), fields_.end(), other.fields_.begin(), other.fields_.end(),
                    [](const HeaderView& a, const HeaderView& b) {
                      return a.name == b.name && a.value == b.value;
                    });
}

}  // namespace reprise
