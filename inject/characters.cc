#include "inject/characters.h"

namespace reprise::inject {

bool Characters::next_utf16(std::span<const std::byte> document, unsigned char& character) {
  if (document.size() - offset_ < 2) return false;
  bool const little = form_ == TextForm::kUtf16le;
  auto const low = static_cast<unsigned char>(document[offset_ + (little ? 0 : 1)]);
  auto const high = static_cast<unsigned char>(document[offset_ + (little ? 1 : 0)]);
  offset_ += 2;
  character = high == 0 && low < 0x80 ? low : kOther;
  return true;
}

// WHATWG Encoding section 12.2.1. An escape sequence is read together with the character after it,
// so a character starts where the text before it is complete.
bool Characters::next_iso_2022_jp(std::span<const std::byte> document, unsigned char& character) {
  constexpr unsigned char kEscape = 0x1B;
  auto at = offset_;
  auto mode = mode_;
  auto const byte = [document](std::size_t i) { return static_cast<unsigned char>(document[i]); };
  while (at < document.size() && byte(at) == kEscape) {
    if (document.size() - at < 3) return false;
    auto const first = byte(at + 1);
    auto const second = byte(at + 2);
    if (first == '(' && second == 'B') {
      mode = Mode::kAscii;
    } else if (first == '(' && second == 'J') {
      mode = Mode::kRoman;
    } else if (first == '(' && second == 'I') {
      mode = Mode::kOneByte;
    } else if (first == '$' && (second == '@' || second == 'B')) {
      mode = Mode::kTwoBytes;
    } else {
      break;  // a lone escape is an error, decoded as one character
    }
    at += 3;
  }
  bool const two = mode == Mode::kTwoBytes;
  if (at >= document.size()) return false;
  auto const value = byte(at);
  bool const graphic = value >= 0x21 && value <= 0x7E;
  if (two && graphic && document.size() - at < 2) return false;
  mode_ = mode;
  if (value == kEscape || value >= 0x80 || (two && !graphic)) {
    character = kOther;  // an error, one byte
    offset_ = at + 1;
  } else if (two) {
    // A lead byte with an invalid trail byte is an error that does not consume an escape.
    offset_ = at + (byte(at + 1) == kEscape ? 1 : 2);
    character = kOther;
  } else {
    offset_ = at + 1;
    character = mode == Mode::kOneByte && graphic ? kOther : value;
  }
  return true;
}

}  // namespace reprise::inject
