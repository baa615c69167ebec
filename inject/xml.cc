#include "inject/xml.h"
#include "base/text/white_space.h"

namespace reprise::inject {
namespace {}  // namespace

bool XmlScan::scan(std::span<const std::byte> document) {
  unsigned char c = 0;
  while (state_ != State::kDone && characters_.next(document, c)) {
    ++steps_;
    step(c);
    before_last_ = last_;
    last_ = c;
  }
  return state_ == State::kDone;
}

void XmlScan::step(unsigned char c) {
  switch (state_) {
    case State::kMisc:
      if (c == '<') {
        state_ = State::kOpen;
      } else if (!is_white_space(static_cast<char>(c))) {
        state_ = State::kDone;  // text: no root, or no head in it
      }
      break;
    case State::kOpen:
      after_ = State::kMisc;
      if (c == '!') {
        state_ = State::kBang;
      } else if (c == '?') {
        state_ = State::kInstruction;
      } else if (c == '/') {
        state_ = State::kDone;
      } else {
        name_size_ = 0;
        state_ = State::kName;
        step_name(c);
      }
      break;
    case State::kBang:
      // "<!-" is a comment; "<!D" a doctype; "<![" is text, which means no head.
      if (c == '-') {
        if (last_ == '-') {
          state_ = State::kComment;
          last_ = 0;
        }
      } else if (after_ == State::kDoctype) {
        state_ = State::kDoctype;
      } else if (c == 'D' && !root_seen_) {
        depth_ = 0;
        state_ = State::kDoctype;
      } else {
        state_ = State::kDone;
      }
      break;
    case State::kComment:
      if (c == '>' && last_ == '-' && before_last_ == '-') state_ = after_;
      break;
    case State::kInstruction:
      if (c == '>' && last_ == '?') state_ = after_;
      break;
    case State::kDoctype:
    case State::kDoctypeOpen:
      step_doctype(c);
      break;
    case State::kName:
      step_name(c);
      break;
    case State::kTag:
      if (quote_ != 0) {
        if (c == quote_) quote_ = 0;
      } else if (c == '"' || c == '\'') {
        quote_ = c;
      } else if (c == '>') {
        end_tag(last_ == '/');
      }
      break;
    case State::kDone:
      break;
  }
}

void XmlScan::step_doctype(unsigned char c) {
  if (state_ == State::kDoctypeOpen) {  // after '<' inside the doctype
    after_ = State::kDoctype;
    state_ = c == '!' ? State::kBang : c == '?' ? State::kInstruction : State::kDoctype;
  } else if (quote_ != 0) {
    if (c == quote_) quote_ = 0;
  } else if (c == '"' || c == '\'') {
    quote_ = c;
  } else if (c == '<') {
    state_ = State::kDoctypeOpen;
  } else if (c == '[') {
    ++depth_;
  } else if (c == ']' && depth_ > 0) {
    --depth_;
  } else if (c == '>' && depth_ == 0) {
    state_ = State::kMisc;
  }
}

// Compares names without their prefix: namespaces are not resolved.
void XmlScan::step_name(unsigned char c) {
  if (is_white_space(static_cast<char>(c)) || c == '/' || c == '>') {
    state_ = State::kTag;
    if (c == '>') end_tag(false);
  } else if (c == ':') {
    name_size_ = 0;
  } else {
    if (name_size_ < name_.size()) name_[name_size_] = static_cast<char>(c);
    name_size_ = std::min(name_size_ + 1, name_.size());
  }
}

void XmlScan::end_tag(bool empty) {
  std::string_view const name(name_.data(), name_size_);
  if (root_seen_) {
    if (name == "head" && !empty) point_ = characters_.offset();
    state_ = State::kDone;
    return;
  }
  root_seen_ = true;
  state_ = State::kDone;
  if (empty || (name != "html" && name != "svg")) return;
  point_ = characters_.offset();
  if (name == "html") state_ = State::kMisc;
}

}  // namespace reprise::inject
