#pragma once

#include <cstddef>
#include <span>

#include "inject/charset.h"

namespace reprise::inject {

/// Reads a document character by character, as far as markup needs it: ASCII characters are
/// themselves, all others kOther. Continues where it stopped when more bytes arrive. Pure.
class Characters {
 public:
  static constexpr unsigned char kOther = 0x80;

  Characters() = default;
  Characters(TextForm form, std::size_t start_bytes) : form_(form), offset_(start_bytes) {}

  /// The next character of `document`, which must be the bytes of earlier calls, or these and more.
  /// False if it is not complete yet.
  bool next(std::span<const std::byte> document, unsigned char& character) {
    if (form_ == TextForm::kAscii) [[likely]] {
      if (offset_ >= document.size()) return false;
      auto const byte = static_cast<unsigned char>(document[offset_++]);
      character = byte < 0x80 ? byte : kOther;
      return true;
    }
    return form_ == TextForm::kIso2022Jp ? next_iso_2022_jp(document, character)
                                         : next_utf16(document, character);
  }

  /// The start of the next character.
  std::size_t offset() const { return offset_; }
  TextForm form() const { return form_; }
  /// Whether JIS X 0201 Roman is selected, where '\\' and '~' are other characters.
  bool roman() const { return mode_ == Mode::kRoman; }

 private:
  enum class Mode : unsigned char { kAscii, kRoman, kOneByte, kTwoBytes };

  bool next_utf16(std::span<const std::byte> document, unsigned char& character);
  bool next_iso_2022_jp(std::span<const std::byte> document, unsigned char& character);

  TextForm form_ = TextForm::kAscii;
  Mode mode_ = Mode::kAscii;
  std::size_t offset_ = 0;
};

}  // namespace reprise::inject
