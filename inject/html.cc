#include "inject/html.h"

#include "base/text/ascii.h"
#include "base/text/white_space.h"

namespace reprise::inject {
namespace {

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

void HtmlScan::Word::add(unsigned char c) {
  if (size_ < text_.size()) text_[size_] = to_lower(static_cast<char>(c));
  if (size_ <= text_.size()) ++size_;
}

bool HtmlScan::scan(std::span<const std::byte> document, bool ended) {
  while (state_ != State::kDone) {
    char_start_ = characters_.offset();
    char_roman_ = characters_.roman();
    unsigned char c = 0;
    if (!characters_.next(document, c)) break;
    ++steps_;
    while (state_ != State::kDone && !step(c)) ++steps_;
  }
  if (state_ != State::kDone && ended) at_end();
  return state_ == State::kDone;
}

// Processes the character, or only changes the state (false), and is called again with it.
bool HtmlScan::step(unsigned char c) {
  switch (state_) {
    case State::kData:
    case State::kTagOpen:
    case State::kEndTagOpen:
      return step_data(c);
    case State::kTagName:
    case State::kBeforeAttributeName:
    case State::kAttributeName:
    case State::kAfterAttributeName:
      return step_tag(c);
    case State::kBeforeAttributeValue:
    case State::kValueDoubleQuoted:
    case State::kValueSingleQuoted:
    case State::kValueUnquoted:
      return step_value(c);
    case State::kTitleText:
    case State::kTitleLessThan:
    case State::kTitleEndName:
      return step_title(c);
    case State::kReferenceStart:
    case State::kReferenceNumber:
    case State::kReferenceDecimal:
    case State::kReferenceHexadecimal:
    case State::kReferenceName:
      return step_reference(c);
    default:
      return step_declaration(c);
  }
}

void HtmlScan::start_token() {
  token_start_ = char_start_;
  token_roman_ = char_roman_;
}

bool HtmlScan::step_data(unsigned char c) {
  if (state_ == State::kData) {
    if (in_head_ && char_start_ >= declaration_end_bytes_) {
      finish(char_start_, char_roman_);
    } else if (c == '<') {
      start_token();
      state_ = State::kTagOpen;
    } else if (c == '&' && !in_head_) {
      start_token();
      state_ = State::kReferenceStart;
    } else if (!is_white_space(static_cast<char>(c))) {
      if (!in_head_) imply_head(char_start_, char_roman_);
      finish();
    }
    return true;
  }
  bool const end_tag = state_ == State::kEndTagOpen;
  if (is_letter(static_cast<char>(c))) {
    closing_ = end_tag;
    harmless_ = true;
    tag_.clear();
    state_ = State::kTagName;
    return false;
  }
  if (end_tag) {
    state_ = c == '>' ? State::kData : State::kBogusComment;
    return c == '>';
  }
  if (c == '/') {
    state_ = State::kEndTagOpen;
  } else if (c == '!') {
    matched_ = 0;
    state_ = State::kMarkupDeclaration;
  } else if (c == '?') {
    state_ = State::kBogusComment;
  } else {  // "<" as text
    if (!in_head_) imply_head(token_start_, token_roman_);
    finish();
  }
  return true;
}

bool HtmlScan::step_tag(unsigned char c) {
  if (state_ == State::kTagName) {
    if (!is_white_space(static_cast<char>(c)) && c != '/' && c != '>') {
      tag_.add(c);
      return true;
    }
    state_ = State::kBeforeAttributeName;
    start_tag_named();
    return false;
  }
  if (state_ == State::kBeforeAttributeName) {
    if (c == '>') {
      end_tag();
    } else if (!is_white_space(static_cast<char>(c)) && c != '/') {
      attribute_.clear();
      value_.clear();
      attribute_.add(c);  // even '=' here
      state_ = State::kAttributeName;
    }
    return true;
  }
  if (c == '=') {
    state_ = State::kBeforeAttributeValue;
    return true;
  }
  if (c == '/' || c == '>') {
    end_attribute();
    state_ = State::kBeforeAttributeName;
    return false;
  }
  if (is_white_space(static_cast<char>(c))) {
    state_ = State::kAfterAttributeName;
  } else if (state_ == State::kAfterAttributeName) {
    end_attribute();
    state_ = State::kBeforeAttributeName;
    return false;
  } else {
    attribute_.add(c);
  }
  return true;
}

bool HtmlScan::step_value(unsigned char c) {
  if (state_ == State::kBeforeAttributeValue) {
    if (is_white_space(static_cast<char>(c))) return true;
    if (c == '"' || c == '\'') {
      state_ = c == '"' ? State::kValueDoubleQuoted : State::kValueSingleQuoted;
      return true;
    }
    state_ = State::kValueUnquoted;
    return false;
  }
  bool const quoted = state_ != State::kValueUnquoted;
  unsigned char const quote = state_ == State::kValueDoubleQuoted ? '"' : '\'';
  if (quoted ? c != quote : !is_white_space(static_cast<char>(c)) && c != '>') {
    value_.add(c);
    return true;
  }
  end_attribute();
  state_ = State::kBeforeAttributeName;
  return quoted;
}

// "<!" and the declarations after it.
bool HtmlScan::step_declaration(unsigned char c) {
  static constexpr std::string_view kDoctypeName = "doctype";
  switch (state_) {
    case State::kMarkupDeclaration:
      if (c == '-' && matched_ == 0) {
        matched_ = kDoctypeName.size();
      } else if (c == '-' && matched_ == kDoctypeName.size()) {
        state_ = State::kCommentStart;
      } else if (matched_ < kDoctypeName.size() &&
                 to_lower(static_cast<char>(c)) == kDoctypeName[matched_]) {
        if (++matched_ == kDoctypeName.size()) state_ = State::kDoctype;
      } else {
        state_ = State::kBogusComment;
        return false;
      }
      break;
    case State::kBogusComment:
    case State::kDoctype:  // quotes do not keep a doctype open
      if (c != '>') break;
      doctype_seen_ = doctype_seen_ || state_ == State::kDoctype;
      state_ = State::kData;
      break;
    case State::kComment:
      if (c == '-') state_ = State::kCommentEndDash;
      break;
    case State::kCommentStart:
    case State::kCommentStartDash:
    case State::kCommentEnd:
    case State::kCommentEndBang:
      if (c == '>') {
        state_ = State::kData;
      } else if (c == '-') {
        bool const first = state_ == State::kCommentStart;
        state_ = first                              ? State::kCommentStartDash
                 : state_ == State::kCommentEndBang ? State::kCommentEndDash
                                                    : State::kCommentEnd;
      } else {
        bool const bang = c == '!' && state_ == State::kCommentEnd;
        state_ = bang ? State::kCommentEndBang : State::kComment;
      }
      break;
    default:  // kCommentEndDash
      state_ = c == '-' ? State::kCommentEnd : State::kComment;
  }
  return true;
}

// A character reference is text, except that some are white space, which has no effect here.
bool HtmlScan::step_reference(unsigned char c) {
  static constexpr std::string_view kNames[] = {"Tab;", "NewLine;"};
  bool const digit = c >= '0' && c <= '9';
  char const letter = to_lower(static_cast<char>(c));
  bool const hexadecimal = digit || (letter >= 'a' && letter <= 'f');
  switch (state_) {
    case State::kReferenceStart:
      reference_ = 0;
      matched_ = 0;
      state_ = c == '#' ? State::kReferenceNumber : State::kReferenceName;
      return c == '#';
    case State::kReferenceNumber:
      if (letter == 'x' && matched_ == 0) {
        matched_ = 1;
        return true;
      }
      if (!(matched_ == 1 ? hexadecimal : digit)) break;
      state_ = matched_ == 1 ? State::kReferenceHexadecimal : State::kReferenceDecimal;
      return false;
    case State::kReferenceName: {
      auto const name = kNames[reference_];
      if (static_cast<char>(c) == name[matched_]) {
        if (++matched_ == name.size()) state_ = State::kData;
        return true;
      }
      if (matched_ > 0 || reference_ == 1) break;
      reference_ = 1;
      return false;
    }
    default: {
      bool const hex = state_ == State::kReferenceHexadecimal;
      if (hex ? hexadecimal : digit) {
        auto const value = digit ? c - '0' : letter - 'a' + 10;
        reference_ =
            std::min(reference_ * (hex ? 16U : 10U) + static_cast<unsigned>(value), 0x110000U);
        return true;
      }
      if (!end_reference()) break;
      return c == ';';
    }
  }
  imply_head(token_start_, token_roman_);
  finish();
  return true;
}

// Whether the number is a white space character.
bool HtmlScan::end_reference() {
  if (reference_ > ' ' || !is_white_space(static_cast<unsigned char>(reference_))) return false;
  state_ = State::kData;
  return true;
}

// In a title only its own end tag has a meaning, not character references or other tags.
bool HtmlScan::step_title(unsigned char c) {
  static constexpr std::string_view kTitle = "title";
  if (state_ == State::kTitleText) {
    if (c == '<') state_ = State::kTitleLessThan;
    return true;
  }
  if (state_ == State::kTitleLessThan) {
    matched_ = 0;
    state_ = c == '/' ? State::kTitleEndName : State::kTitleText;
    return c == '/';
  }
  if (matched_ < kTitle.size() && to_lower(static_cast<char>(c)) == kTitle[matched_]) {
    ++matched_;
    return true;
  }
  bool const ends =
      matched_ == kTitle.size() && (is_white_space(static_cast<char>(c)) || c == '/' || c == '>');
  closing_ = ends;
  state_ = ends ? State::kBeforeAttributeName : State::kTitleText;
  return false;
}

void HtmlScan::start_tag_named() {
  if (in_head_) return;
  bool const ours = closing_ ? one_of(tag_.text(), {"html", "head", "body", "br"})
                             : !one_of(tag_.text(), {"html", "head"});
  if (ours) imply_head(token_start_, token_roman_);
}

void HtmlScan::end_attribute() {
  if (!in_head_ || closing_) return;
  bool const unclear = value_.cut() || value_.text().contains('&');
  if (tag_.text() == "meta" && attribute_.text() == "http-equiv") {
    if (unclear || value_.text().starts_with("content-security")) harmless_ = false;
  } else if (tag_.text() == "link" && attribute_.text() == "rel") {
    if (unclear || value_.text().contains("stylesheet")) harmless_ = false;
  } else if (tag_.text() == "link" && attribute_.text().starts_with("on")) {
    harmless_ = false;
  }
}

void HtmlScan::end_tag() {
  state_ = State::kData;
  if (in_head_) {
    end_head_tag();
  } else if (!closing_ && tag_.text() == "head") {
    imply_head(characters_.offset(), characters_.roman());
  }
}

// A tag between the start of the head and the declaration of the encoding.
void HtmlScan::end_head_tag() {
  if (closing_) {
    if (one_of(tag_.text(), {"html", "head", "body", "br", "template"})) return finish();
  } else if (tag_.text() == "title") {
    state_ = State::kTitleText;
    return;
  } else if (!harmless_ || !one_of(tag_.text(), {"meta", "base", "link"})) {
    return finish();
  }
  if (characters_.offset() >= declaration_end_bytes_) {
    finish(characters_.offset(), characters_.roman());
  }
}

void HtmlScan::imply_head(std::size_t offset, bool roman) {
  in_head_ = true;
  point_ = offset;
  roman_ = roman;
  if (declaration_end_bytes_ <= offset) finish();
}

void HtmlScan::finish(std::optional<std::size_t> point, bool roman) {
  point_ = point;
  roman_ = roman;
  state_ = State::kDone;
}

void HtmlScan::at_end() {
  bool const number = state_ == State::kReferenceDecimal || state_ == State::kReferenceHexadecimal;
  if (in_head_) {
    finish();
  } else if (state_ == State::kData || (number && end_reference())) {
    finish(characters_.offset(), characters_.roman());
  } else if (state_ >= State::kMarkupDeclaration && state_ <= State::kDoctype) {
    finish(std::nullopt, false);
  } else {
    finish(token_start_, token_roman_);
  }
}

void HtmlScan::give_up() {
  if (state_ == State::kDone) return;
  // A script before a doctype would change the page's layout mode.
  bool const declaring = state_ >= State::kMarkupDeclaration && state_ <= State::kDoctype;
  bool const may_declare = state_ == State::kData || state_ == State::kTagOpen || declaring;
  if (!in_head_ && !doctype_seen_ && may_declare) {
    finish(std::nullopt, false);
  } else if (!in_head_ && declaring) {
    finish(token_start_, token_roman_);
  } else {
    at_end();
  }
}

}  // namespace reprise::inject
