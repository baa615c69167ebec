#include "inject/prologue.h"

#include <string_view>

namespace reprise::inject {

bool PrologueScan::scan(std::span<const std::byte> script, bool ended) {
  while (state_ != State::kDone && offset_ < script.size()) {
    step(static_cast<char>(script[offset_++]));
  }
  if (ended) state_ = State::kDone;
  return state_ == State::kDone;
}

void PrologueScan::step(char c) {
  static constexpr std::string_view kMark = "\xEF\xBB\xBF";
  static constexpr std::string_view kDirective = "use strict";
  switch (state_) {
    case State::kMark:
      if (c == kMark[matched_]) {
        if (++matched_ < kMark.size()) return;
        point_ = offset_;
        state_ = State::kFirst;
        return;
      }
      [[fallthrough]];
    case State::kFirst:
      state_ = c == '#' ? State::kHash : State::kSpace;
      if (c != '#') step_space(c);
      return;
    case State::kHash:
      state_ = c == '!' ? State::kHashbang : State::kDone;
      return;
    case State::kHashbang:
      if (c == '\n' || c == '\r') {
        point_ = offset_;
        state_ = State::kSpace;
      }
      return;
    case State::kSpace:
      return step_space(c);
    case State::kSlash:
      state_ = c == '/' ? State::kLineComment : c == '*' ? State::kBlockComment : State::kDone;
      return;
    case State::kLineComment:
      if (c == '\n' || c == '\r') state_ = State::kSpace;
      return;
    case State::kBlockComment:
      if (c == '*') state_ = State::kBlockStar;
      return;
    case State::kBlockStar:
      if (c != '*') state_ = c == '/' ? State::kSpace : State::kBlockComment;
      return;
    case State::kString:
      if (matched_ < kDirective.size() && c == kDirective[matched_]) {
        ++matched_;
      } else {
        strict_ = matched_ == kDirective.size() && c == quote_;
        state_ = State::kDone;
      }
      return;
    case State::kDone:
      return;
  }
}

void PrologueScan::step_space(char c) {
  if (c == '"' || c == '\'') {
    quote_ = c;
    matched_ = 0;
    state_ = State::kString;
  } else if (c == '/') {
    state_ = State::kSlash;
  } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f') {
    state_ = State::kDone;
  }
}

}  // namespace reprise::inject
