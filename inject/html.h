#pragma once

// Finds the place in an HTML document where a script runs before all others, and parsing gives the
// same tree with one more element. A tokenizer of our own, after WHATWG HTML sections 13.2.5 and
// 13.2.6.4.1 to .4: reads each byte once, keeps only its state, and allocates nothing per token.
// Pure; not thread-safe.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "inject/characters.h"

namespace reprise::inject {

/// The tokenizer. Insertion by its rules:
/// - after <head>; if it is implied, before the first token that implies it, but always after what
///   precedes it (doctype, comments, <html>);
/// - but after the meta element that declares the encoding, if nothing before that could run, block
///   or forbid a script. `declaration_end_bytes` is the end of that element; 0 if none counts.
class HtmlScan {
 public:
  HtmlScan() = default;
  HtmlScan(Characters characters, std::size_t declaration_end_bytes)
      : characters_(characters), declaration_end_bytes_(declaration_end_bytes) {}

  /// Continues in `document` (from its first byte), which has grown, and has `ended` or not. True
  /// once the place is known.
  bool scan(std::span<const std::byte> document, bool ended);

  /// The place, after scan() returned true; nothing if the document ends inside a comment or a
  /// doctype before anything else, where a script has no place.
  std::optional<std::size_t> point() const { return point_; }
  /// Settles on the best place known when no more bytes will be read.
  void give_up();
  /// Whether JIS X 0201 Roman is selected at the point (ISO-2022-JP).
  bool roman() const { return roman_; }
  std::uint64_t steps() const { return steps_; }

 private:
  enum class State : std::uint8_t {
    kData,
    kTagOpen,
    kEndTagOpen,
    kTagName,
    kBeforeAttributeName,
    kAttributeName,
    kAfterAttributeName,
    kBeforeAttributeValue,
    kValueDoubleQuoted,
    kValueSingleQuoted,
    kValueUnquoted,
    kMarkupDeclaration,
    kBogusComment,
    kCommentStart,
    kCommentStartDash,
    kComment,
    kCommentEndDash,
    kCommentEnd,
    kCommentEndBang,
    kDoctype,
    kReferenceStart,
    kReferenceNumber,
    kReferenceDecimal,
    kReferenceHexadecimal,
    kReferenceName,
    kTitleText,
    kTitleLessThan,
    kTitleEndName,
    kDone,
  };

  /// The start of a name or value in lower case; enough to recognise the few that matter.
  class Word {
   public:
    void clear() { size_ = 0; }
    void add(unsigned char c);
    std::string_view text() const { return {text_.data(), std::min(size_, text_.size())}; }
    bool cut() const { return size_ > text_.size(); }

   private:
    std::array<char, 24> text_{};
    std::size_t size_ = 0;
  };

  bool step(unsigned char c);
  bool step_data(unsigned char c);
  bool step_tag(unsigned char c);
  bool step_value(unsigned char c);
  bool step_declaration(unsigned char c);
  bool step_reference(unsigned char c);
  bool step_title(unsigned char c);

  void start_tag_named();
  void end_attribute();
  void end_tag();
  void end_head_tag();
  bool end_reference();
  void at_end();

  void start_token();
  void imply_head(std::size_t offset, bool roman);
  void finish() { state_ = State::kDone; }
  void finish(std::optional<std::size_t> point, bool roman);

  Characters characters_;
  std::size_t declaration_end_bytes_ = 0;
  State state_ = State::kData;
  bool in_head_ = false;  // point_ is set; looking for the declaration
  bool closing_ = false;  // the tag is an end tag
  bool doctype_seen_ = false;
  bool harmless_ = true;  // by its attributes the tag cannot affect scripts
  bool roman_ = false;
  bool char_roman_ = false;      // before the current character
  bool token_roman_ = false;     // before the current token
  std::size_t char_start_ = 0;   // of the current character
  std::size_t token_start_ = 0;  // of the current tag, comment, doctype or reference
  std::size_t matched_ = 0;      // of "--", "doctype", "title" or a reference's name
  std::uint32_t reference_ = 0;
  Word tag_;
  Word attribute_;
  Word value_;
  std::optional<std::size_t> point_;
  std::uint64_t steps_ = 0;
};

}  // namespace reprise::inject
