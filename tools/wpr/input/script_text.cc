#include "tools/wpr/input/script_text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/http/headers.h"
#include "base/text/printable.h"

namespace reprise::wpr {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

/// One unit of UTF-16, as JavaScript escapes it.
void add_escape(std::string& text, std::uint32_t unit) {
  std::array<char, 8> escape;
  std::snprintf(escape.data(), escape.size(), "\\u%04x", unit);
  text += escape.data();
}

/// Takes the first character of valid UTF-8.
std::uint32_t take_character(std::string_view& text) {
  auto const first = static_cast<unsigned char>(text.front());
  std::size_t const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  std::uint32_t code = length == 1 ? first : first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  text.remove_prefix(length);
  return code;
}

void add_character(std::string& text, std::uint32_t code) {
  constexpr std::uint32_t kFirstSupplementary = 0x10000;
  bool const plain = (code >= ' ' && code <= '~') || code == '\n' || code == '\t';
  if (plain) {
    text += static_cast<char>(code);
  } else if (code < kFirstSupplementary) {
    add_escape(text, code);
  } else {
    auto const rest = code - kFirstSupplementary;
    add_escape(text, 0xd800 + (rest >> 10));
    add_escape(text, 0xdc00 + (rest & 0x3ff));
  }
}

}  // namespace

std::string fill_in(std::string script, std::chrono::milliseconds time, const std::string& random) {
  auto const seed = std::to_string(time.count());
  auto const result = random.empty() ? "null" : random;
  for (auto const& [name, value] : {std::pair{std::string("WPR_TIME_SEED_TIMESTAMP"), seed},
                                    {std::string("WPR_CONSTANT_RANDOM_RESULT"), result}}) {
    replace_all(script, "{{" + name + "}}", value);
    replace_all(script, name, value);
  }
  return script;
}

std::string fit_for_documents(const std::string& script) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  auto const valid = as_utf8(script);
  std::string_view rest = valid;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  std::string text;
  while (!rest.empty()) {
    if (rest.starts_with('\r')) {
      rest.remove_prefix(rest.starts_with("\r\n") ? 2 : 1);
      text += '\n';
    } else if (starts_with_ignoring_case(rest, "</script")) {
      rest.remove_prefix(2);
      text += "<\\/";
    } else if (rest.starts_with("<!--")) {
      rest.remove_prefix(2);
      text += "<\\!";
    } else if (rest.starts_with("]]>")) {
      rest.remove_prefix(3);
      text += "]] >";
    } else {
      add_character(text, take_character(rest));
    }
  }
  return text;
}

}  // namespace reprise::wpr
