#include "tools/wpr/input/script_text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/http/headers.h"
#include "base/text/printable.h"
#include "tools/wpr/input/script_scanner.h"

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

constexpr std::uint32_t kFirstSupplementary = 0x10000;

/// A character of a literal.
void add_escapes(std::string& text, std::uint32_t code) {
  if (code < kFirstSupplementary) return add_escape(text, code);
  auto const rest = code - kFirstSupplementary;
  add_escape(text, 0xd800 + (rest >> 10));
  add_escape(text, 0xdc00 + (rest & 0x3ff));
}

/// A character of a name: two surrogates would not be a letter there.
void add_name_escape(std::string& text, std::uint32_t code) {
  if (code < kFirstSupplementary) return add_escape(text, code);
  std::array<char, 12> escape;
  std::snprintf(escape.data(), escape.size(), "\\u{%x}", code);
  text += escape.data();
}

bool is_line_separator(std::uint32_t code) {
  return code == 0x2028 || code == 0x2029;
}

/// White space of JavaScript (ECMA-262 section 12.2) besides blanks.
bool is_unusual_space(std::uint32_t code) {
  return code == '\v' || code == '\f' || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x202f || code == 0x205f || code == 0x3000 ||
         code == 0xfeff;
}

/// Writes a script in a form that fits, as each part of the program permits.
class Fitting {
 public:
  explicit Fitting(std::string_view script) : rest_(script) {}

  std::string write() {
    while (!rest_.empty()) write_next();
    return std::move(text_);
  }

 private:
  using Place = ScriptScanner::Place;

  void write_next();
  void write_character(std::uint32_t code);
  /// Takes so many characters of ASCII, and writes `as`.
  void replace(std::size_t count, std::string_view as);
  /// Writes a character that was taken from the rest; `meaning` is what the scanner takes it for.
  void put(std::string_view as, char meaning);
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }

  std::string_view rest_;
  std::string text_;
  ScriptScanner scanner_;
};

void Fitting::write_next() {
  auto const place = scanner_.place();
  if (rest_.starts_with('\r')) {
    rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : 1);
    put("\n", '\n');
  } else if (starts_with_ignoring_case(rest_, "</script")) {
    replace(2, "<\\/");
  } else if (rest_.starts_with("<!--") && place == Place::kCode) {
    // A comment to the end of the line (ECMA-262 annex B.1.1).
    rest_.remove_prefix(4);
    scanner_.take('/', '/');
    put("//", '/');
  } else if (rest_.starts_with("<!--")) {
    // A regular expression with the flag u permits no "\!".
    replace(2, place == Place::kRegExp ? "<\\x21" : "<\\!");
  } else if (rest_.starts_with("]]>")) {
    replace(3, scanner_.in_literal() ? "]]\\x3e" : "]] >");
  } else {
    write_character(take_character(rest_));
  }
}

void Fitting::write_character(std::uint32_t code) {
  bool const in_literal = scanner_.in_literal();
  bool const in_code = scanner_.place() == Place::kCode;
  if ((code >= ' ' && code <= '~') || code == '\n' || code == '\t') {
    auto const c = static_cast<char>(code);
    return put({&c, 1}, c);
  }
  if (in_code && is_unusual_space(code)) return put(" ", ' ');
  // Between two lines, or within a line that a backslash continues.
  if (is_line_separator(code) && (!in_literal || scanner_.is_escaped())) return put("\n", '\n');
  // That backslash would escape the one of the escape.
  if (in_literal && scanner_.is_escaped()) text_.pop_back();
  if (in_code) {
    add_name_escape(text_, code);
  } else {
    add_escapes(text_, code);
  }
  put("", 'a');
}

void Fitting::replace(std::size_t count, std::string_view as) {
  for (; count > 0; --count) {
    auto const c = rest_.front();
    rest_.remove_prefix(1);
    scanner_.take(c, next());
  }
  text_ += as;
}

void Fitting::put(std::string_view as, char meaning) {
  text_ += as;
  scanner_.take(meaning, next());
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
  return Fitting(rest).write();
}

}  // namespace reprise::wpr
