#include "inject/document/references.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/text/ascii.h"

namespace reprise::inject {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Named {
  std::string_view text;
  bool without_semicolon;
};

using NamedTable = std::unordered_map<std::string_view, Named>;

NamedTable read_table() {
  NamedTable table;
  for (auto rest = kNamedReferences; !rest.empty();) {
    auto const line = rest.substr(0, rest.find(' '));
    rest.remove_prefix(line.size() + 1);
    auto const equals = line.find('=');
    bool const bare = line[equals - 1] == '!';
    table.emplace(line.substr(0, bare ? equals - 1 : equals),
                  Named{.text = line.substr(equals + 1), .without_semicolon = bare});
  }
  return table;
}

const Named* find_named(std::string_view name) {
  static const NamedTable table = read_table();
  auto const found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

// The value of a digit, or 16.
unsigned digit_of(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return 16;
}

bool is_letter_or_digit(char c) {
  return is_digit(c) || is_letter(c);
}

// Numbers of C1 control characters mean characters of windows-1252.
constexpr char16_t kWindows1252[] = {
    0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

void append_character(std::string& out, std::uint32_t number) {
  if (number >= 0x80 && number < 0xA0) number = kWindows1252[number - 0x80];
  bool const surrogate = number >= 0xD800 && number < 0xE000;
  if (number == 0 || number > 0x10FFFF || surrogate) {
    out += kReplacement;
    return;
  }
  auto const put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (number < 0x80) return put(number);
  if (number < 0x800) {
    put(0xC0 | number >> 6);
  } else {
    if (number < 0x10000) {
      put(0xE0 | number >> 12);
    } else {
      put(0xF0 | number >> 18);
      put(0x80 | (number >> 12 & 0x3F));
    }
    put(0x80 | (number >> 6 & 0x3F));
  }
  put(0x80 | (number & 0x3F));
}

// `rest` begins with "&#". The length of the reference, or 0 if this is not one.
std::size_t decode_number(std::string_view rest, std::string& out) {
  bool const hexadecimal = rest.size() > 2 && (rest[2] == 'x' || rest[2] == 'X');
  unsigned const base = hexadecimal ? 16 : 10;
  std::size_t const begin = hexadecimal ? 3 : 2;
  std::uint32_t number = 0;
  auto at = begin;
  for (; at < rest.size() && digit_of(rest[at]) < base; ++at) {
    number = std::min(number * base + digit_of(rest[at]), 0x110000U);
  }
  if (at == begin) return 0;
  append_character(out, number);
  return at < rest.size() && rest[at] == ';' ? at + 1 : at;
}

// `rest` begins with '&'. The length of the reference, or 0 if this is not one.
std::size_t decode_reference(std::string_view rest, std::string& out) {
  if (rest.starts_with("&#")) return decode_number(rest, out);
  auto const* const end = std::find_if_not(rest.begin() + 1, rest.end(), is_letter_or_digit);
  auto const name = rest.substr(1, static_cast<std::size_t>(end - rest.begin()) - 1);
  char const next = end == rest.end() ? ' ' : *end;
  auto const* const named = find_named(name);
  // Without its semicolon a reference is not followed by '=', so that "?a=b&copy=c" stays.
  if (named == nullptr || (next != ';' && (!named->without_semicolon || next == '='))) return 0;
  out += named->text;
  return name.size() + (next == ';' ? 2 : 1);
}

}  // namespace

std::string attribute_value(std::string_view raw) {
  std::string value;
  value.reserve(raw.size());
  while (!raw.empty()) {
    auto const plain = raw.substr(0, raw.find_first_of(std::string_view("&\r\0", 3)));
    value += plain;
    raw.remove_prefix(plain.size());
    if (raw.empty()) break;
    std::size_t used = 0;
    if (raw.front() == '&') {
      used = decode_reference(raw, value);
      if (used == 0) value += '&';
    } else if (raw.front() == '\r') {
      value += '\n';
      used = raw.starts_with("\r\n") ? 2 : 1;
    } else {
      value += kReplacement;
    }
    raw.remove_prefix(std::max<std::size_t>(used, 1));
  }
  return value;
}

std::string in_attribute(std::string_view text) {
  std::string result;
  for (char const c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace reprise::inject
