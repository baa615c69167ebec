#include "analysis/differences/tokens.h"

#include <algorithm>
#include <functional>

#include "base/text/ascii.h"
#include "base/text/utf8.h"
#include "base/text/white_space.h"
#include "inject/document/tags.h"

namespace reprise {
namespace {

bool is_word(char c) {
  auto const byte = static_cast<unsigned char>(c);
  return is_letter(c) || is_digit(c) || c == '_' || c == '$' || byte >= 0x80;
}

/// With white space as one blank.
std::string squeezed(std::string_view text) {
  std::string out;
  for (char const c : trim(text)) {
    if (!is_white_space(c)) {
      out += c;
    } else if (!out.ends_with(' ')) {
      out += ' ';
    }
  }
  return out;
}

std::uint64_t hash_of(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

/// Tokens of code, in linear time: quotes that nothing closes are searched for their end until this
/// many bytes for each byte of the text were read in vain; beyond, a quote is one sign.
constexpr std::size_t kVainBytesOfEach = 8;

/// The end of the literal that begins at `at`; only of its quote if nothing closes it. Counts the
/// bytes that were read in vain.
std::size_t end_of_literal(std::string_view text, std::size_t at, std::size_t& vain) {
  if (vain / kVainBytesOfEach > text.size()) return at + 1;
  char const quote = text[at];
  auto end = at + 1;
  for (; end < text.size(); ++end) {
    if (text[end] == quote) return end + 1;
    if (text[end] == '\n' && quote != '`') break;  // no string: part of an expression
    if (text[end] == '\\') ++end;
  }
  vain += end - at;
  return at + 1;
}

/// The end of the token that begins at `at`, which is no white space.
std::size_t end_of_code(std::string_view text, std::size_t at, std::size_t& vain) {
  char const c = text[at];
  auto const rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) {
    auto const end = text.find("*/", at + 2);
    return end == text.npos ? text.size() : end + 2;
  }
  if (c == '"' || c == '\'' || c == '`') return end_of_literal(text, at, vain);
  auto end = at + 1;
  while (is_word(c) && end < text.size() && is_word(text[end])) ++end;
  return end;
}

class DocumentTokens {
 public:
  explicit DocumentTokens(std::string_view text) : text_(text) {}

  std::vector<Token> read() && {
    inject::TagReader reader(text_, true);
    inject::StartTag tag;
    while (!is_full() && reader.next(tag)) {
      add_between(tag.span.begin);
      add_tag(tag);
      at_ = tag.span.end;
      if (tag.text.size() == 0) continue;
      bool const is_code = tag.name == "script" || tag.name == "style";
      add(is_code ? Token::Kind::kInline : Token::Kind::kText, tag.text.begin, tag.text.end);
      at_ = tag.text.end;
    }
    add_between(text_.size());
    if (is_full()) return {};
    return std::move(tokens_);
  }

 private:
  bool is_full() const { return tokens_.size() > kTokensMax; }

  void add(Token::Kind kind, std::size_t begin, std::size_t end, std::string name = {}) {
    auto const piece = text_.substr(begin, end - begin);
    if (trim(piece).empty()) return;
    tokens_.push_back({.kind = kind,
                       .begin = static_cast<std::uint32_t>(begin),
                       .end = static_cast<std::uint32_t>(end),
                       .hash = hash_of(squeezed(piece)),
                       .name = std::move(name)});
  }

  void add_tag(const inject::StartTag& tag) {
    add(Token::Kind::kStartTag, tag.span.begin, tag.span.end, tag.name);
    auto meaning = "<" + tag.name;
    for (auto const& attribute : tag.attributes) {
      auto const name = attribute.name.in(text_);
      meaning.append(" ").append(name);
      if (name == "nonce") continue;
      meaning.append("=").append(attribute.value.in(text_));
    }
    tokens_.back().hash = hash_of(meaning);
  }

  /// End tags and text up to the next start tag.
  void add_between(std::size_t to) {
    auto const before = text_.substr(0, to);  // what follows is searched for its own tags
    while (at_ < to && !is_full()) {
      auto const tag = std::min(before.find("</", at_), to);
      add(Token::Kind::kText, at_, tag);
      if (tag >= to) break;
      auto const end = std::min(before.find('>', tag), to - 1) + 1;
      auto name = squeezed(text_.substr(tag + 2, end - tag - 3));
      std::ranges::transform(name, name.begin(), to_lower);
      add(Token::Kind::kEndTag, tag, end, std::move(name));
      at_ = end;
    }
    at_ = std::max(at_, to);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> code_tokens(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t vain = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (is_white_space(text[at])) {
      ++at;
      continue;
    }
    auto const end = end_of_code(text, at, vain);
    if (tokens.size() == kTokensMax) return {};
    tokens.push_back({.kind = Token::Kind::kCode,
                      .begin = static_cast<std::uint32_t>(at),
                      .end = static_cast<std::uint32_t>(end),
                      .hash = hash_of(text.substr(at, end - at)),
                      .name = {}});
    at = end;
  }
  return tokens;
}

std::vector<Token> document_tokens(std::string_view text) {
  if (text.size() > inject::kDocumentBytesMax) return {};
  return DocumentTokens(text).read();
}

std::string nonce_of(std::string_view document) {
  if (document.size() > inject::kDocumentBytesMax) return {};
  inject::TagReader reader(document, true);
  inject::StartTag tag;
  while (reader.next(tag)) {
    auto const* const nonce = inject::find_attribute(tag, document, "nonce");
    if (nonce != nullptr && nonce->value.size() > 0) return std::string(nonce->value.in(document));
  }
  return {};
}

std::string one_line(std::string_view text, std::size_t most) {
  auto line = squeezed(text.substr(0, 8 * most));
  if (line.size() <= most) return line;
  return std::string(utf8_start(line, most)) + "…";
}

}  // namespace reprise
