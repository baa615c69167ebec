#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace reprise::wpr {

/// Follows the text of a classic script, character by character, and tells where in the program the
/// next one is. What comes before a slash tells whether it divides or begins a regular expression;
/// after a '}' it begins one, which is wrong after an object literal. Strings and regular
/// expressions end with their line, so a wrong guess does, too. Pure. Source: ECMA-262 section 12.
class ScriptScanner {
 public:
  enum class Place : std::uint8_t {
    kCode,
    kString,
    kTemplate,
    kRegExp,
    kLineComment,
    kBlockComment,
  };

  /// Of the next character.
  Place place() const { return place_; }
  bool in_literal() const {
    return place_ == Place::kString || place_ == Place::kTemplate || place_ == Place::kRegExp;
  }
  /// In a literal: whether a backslash escapes the next character.
  bool is_escaped() const { return escaped_; }

  /// Takes the next character; `next` is the one after it. Give a letter, a space or '\n' for those
  /// beyond ASCII, whichever has their meaning.
  void take(char c, char next);

 private:
  void take_code(char c, char next, char before);
  void begin(Place place);
  char close();
  bool ends_with_word(std::span<const std::string_view> words) const;
  bool ends_with_value() const;

  Place place_ = Place::kCode;
  bool escaped_ = false;   ///< also the second character of what begins a comment
  bool in_class_ = false;  ///< of a regular expression
  char quote_ = 0;         ///< ends the string
  char previous_ = 0;
  char last_ = 0;           ///< of the code, without white space and comments
  std::string word_;        ///< the last one in the code
  bool is_member_ = false;  ///< it follows a '.'
  std::string open_;        ///< parentheses and braces
};

}  // namespace reprise::wpr
