#include "tools/wpr/input/script_scanner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/white_space.h"

namespace reprise::wpr {
namespace {

/// A slash after these begins a regular expression.
constexpr std::array<std::string_view, 13> kBeforeValues = {
    "await", "case",   "delete", "do",     "else", "in",   "instanceof",
    "new",   "return", "throw",  "typeof", "void", "yield"};
/// The same after the parentheses that follow these.
constexpr std::array<std::string_view, 4> kBeforeConditions = {"for", "if", "while", "with"};
constexpr std::size_t kWordBytesMax = 16;  // longer than any of these

// The ends of code that are not shown by their own character.
constexpr char kEndOfWord = 'a';
constexpr char kEndOfValue = ']';
// The same for what is open.
constexpr char kOpenCondition = 'c';
constexpr char kOpenSubstitution = '$';

bool is_of_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

}  // namespace

void ScriptScanner::take(char c, char next) {
  auto const before = std::exchange(previous_, c);
  if (std::exchange(escaped_, false)) {
    previous_ = 0;
    return;
  }
  switch (place_) {
    case Place::kCode:
      return take_code(c, next, before);
    case Place::kString:
      escaped_ = c == '\\';
      if (c == quote_ || c == '\n') place_ = Place::kCode;
      return;
    case Place::kTemplate:
      escaped_ = c == '\\';
      if (c == '`') place_ = Place::kCode;
      if (c == '{' && before == '$') {
        open_ += kOpenSubstitution;
        place_ = Place::kCode;
        last_ = c;
      }
      return;
    case Place::kRegExp:
      escaped_ = c == '\\';
      if ((c == '/' && !in_class_) || c == '\n') place_ = Place::kCode;
      if (c == '[' || c == ']') in_class_ = c == '[';
      return;
    case Place::kLineComment:
      if (c == '\n') place_ = Place::kCode;
      return;
    case Place::kBlockComment:
      if (c == '/' && before == '*') place_ = Place::kCode;
      return;
  }
}

void ScriptScanner::take_code(char c, char next, char before) {
  if (is_of_word(c)) {
    if (!is_of_word(before)) {
      is_member_ = last_ == '.';
      word_.clear();
    }
    if (word_.size() < kWordBytesMax) word_ += c;
    last_ = kEndOfWord;
    return;
  }
  if (is_white_space(c)) return;
  switch (c) {
    case '"':
    case '\'':
      quote_ = c;
      return begin(Place::kString);
    case '`':
      return begin(Place::kTemplate);
    case '/':
      if (next == '/' || next == '*') {
        place_ = next == '/' ? Place::kLineComment : Place::kBlockComment;
        escaped_ = true;
        return;
      }
      if (!ends_with_value()) return begin(Place::kRegExp);
      break;
    case '(':
      open_ += ends_with_word(kBeforeConditions) ? kOpenCondition : c;
      break;
    case '{':
      open_ += c;
      break;
    case ')':
      last_ = close() == kOpenCondition ? c : kEndOfValue;
      return;
    case '}':
      if (close() == kOpenSubstitution) return begin(Place::kTemplate);
      break;
    case '+':
    case '-':
      last_ = last_ == c ? kEndOfValue : c;
      return;
    default:
      break;
  }
  last_ = c;
}

/// A literal is a value.
void ScriptScanner::begin(Place place) {
  place_ = place;
  in_class_ = false;
  last_ = kEndOfValue;
}

char ScriptScanner::close() {
  if (open_.empty()) return 0;
  auto const opened = open_.back();
  open_.pop_back();
  return opened;
}

bool ScriptScanner::ends_with_word(std::span<const std::string_view> words) const {
  return last_ == kEndOfWord && !is_member_ &&
         std::ranges::find(words, std::string_view(word_)) != words.end();
}

bool ScriptScanner::ends_with_value() const {
  if (last_ == kEndOfWord) return !ends_with_word(kBeforeValues);
  return last_ == kEndOfValue || last_ == '.';  // "1."
}

}  // namespace reprise::wpr
