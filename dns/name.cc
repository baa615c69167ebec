#include "dns/name.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "dns/error.h"

namespace reprise::dns {
namespace {

/// Removes the escaped byte after a backslash from `text`; -1 if it is invalid.
int take_escaped(std::string_view& text) {
  if (text.empty()) return -1;
  if (!is_digit(text.front())) {
    auto const letter = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    return letter;
  }
  if (text.size() < 3 || !std::all_of(text.begin(), text.begin() + 3, is_digit)) return -1;
  int const value = (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
  text.remove_prefix(3);
  return value <= 255 ? value : -1;
}

}  // namespace

bool Name::append(std::string_view label) {
  if (label.empty() || label.size() > kLabelMax) return false;
  if (labels_.size() + 1 + label.size() + 1 > kWireMax) return false;
  labels_.push_back(static_cast<char>(label.size()));
  labels_.append(label);
  return true;
}

Result<Name> Name::parse(std::string_view text) {
  Name name;
  if (text == ".") return name;
  if (text.empty()) return fail(errc::bad_name);
  std::string label;
  while (!text.empty()) {
    char const letter = text.front();
    text.remove_prefix(1);
    if (letter == '.') {
      if (!name.append(label)) return fail(errc::bad_name);
      label.clear();
    } else if (letter == '\\') {
      int const escaped = take_escaped(text);
      if (escaped < 0) return fail(errc::bad_name);
      label.push_back(static_cast<char>(escaped));
    } else {
      label.push_back(letter);
    }
    if (label.size() > kLabelMax) return fail(errc::bad_name);
  }
  if (!label.empty() && !name.append(label)) return fail(errc::bad_name);
  return name;
}

std::string Name::text() const {
  if (labels_.empty()) return ".";
  std::string text;
  for (std::size_t at = 0; at < labels_.size();) {
    auto const size = static_cast<unsigned char>(labels_[at]);
    if (at > 0) text.push_back('.');
    for (char const letter : std::string_view(labels_).substr(at + 1, size)) {
      auto const value = static_cast<unsigned char>(letter);
      if (letter == '.' || letter == '\\') {
        text.push_back('\\');
        text.push_back(letter);
      } else if (value <= 0x20 || value >= 0x7f) {
        text.push_back('\\');
        for (int const unit : {100, 10, 1})
          text.push_back(static_cast<char>('0' + value / unit % 10));
      } else {
        text.push_back(letter);
      }
    }
    at += 1 + size;
  }
  return text;
}

Name Name::lowered() const {
  // A length is at most 63, below every letter, so lowering does not change it.
  Name name = *this;
  std::ranges::transform(name.labels_, name.labels_.begin(), to_lower);
  return name;
}

}  // namespace reprise::dns
