#pragma once

// Scripts and documents as tokens, so that a change has the extent that its author gave it. Pure;
// input is hostile.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

struct Token {
  enum class Kind : std::uint8_t {
    kCode,      ///< of a script or style sheet: a word, a number, a string, a comment, one sign
    kStartTag,  ///< of an element, with its attributes
    kEndTag,
    kText,    ///< between tags
    kInline,  ///< the whole text of a script or style element
  };
  Kind kind = Kind::kCode;
  std::uint32_t begin = 0;  ///< bytes of the text
  std::uint32_t end = 0;
  /// Of what the token means: without the values of nonces, and with white space as one blank.
  std::uint64_t hash = 0;
  std::string name;  ///< of a tag

  std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
};

/// More of them are not read: the result is empty.
inline constexpr std::size_t kTokensMax = 400'000;

/// The tokens of a script, a style sheet or JSON. White space is between them.
std::vector<Token> code_tokens(std::string_view text);

/// The tokens of an HTML document of at most inject::kDocumentBytesMax bytes. Text of white space
/// alone has no token.
std::vector<Token> document_tokens(std::string_view text);

/// The value of the first nonce attribute of a script or style element; empty without one.
std::string nonce_of(std::string_view document);

/// The text in one line, of at most `most` bytes, with an ellipsis where it was cut.
std::string one_line(std::string_view text, std::size_t most);

}  // namespace reprise
