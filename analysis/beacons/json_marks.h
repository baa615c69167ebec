#pragma once

// A walk over the JSON of one line, for what JavaScript's JSON.stringify() writes. It reads where
// simdjson's first stage has marks: at brackets, colons, commas and the first byte of each value.
// At anything else (escapes, blanks after values, signs) it stops: such a line is for simdjson's
// own reader. It takes nothing that the other one would read differently.
// Includes simdjson, as beacon_json.h.

#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/text/byte_words.h"

namespace reprise {

/// Each function that takes something goes past it, or returns false: then the walk is over. A
/// value of three pointers: a loop walks fastest with a copy of its own, whose place is in a
/// register, and assigns it back.
class JsonMarks {
 public:
  bool take(char mark) {
    if (*here() != mark) return false;
    ++at_;
    return true;
  }
  /// A text without escapes.
  bool text(std::string_view& text) {
    const char* const begin = here() + 1;
    if (begin[-1] != '"') return false;
    // Before the next mark is the closing quote, if there is no blank.
    const char* const end = next() - 1;
    if (*end != '"') return false;
    text = {begin, static_cast<std::size_t>(end - begin)};
    ++at_;
    return !has_backslash_ || std::memchr(begin, '\\', text.size()) == nullptr;
  }
  /// The first byte of a field's name, and past the colon. The name may have escapes.
  bool key(const char*& begin) {
    begin = here() + 1;
    if (begin[-1] != '"' || *next() != ':') return false;
    at_ += 2;
    return true;
  }
  /// A whole number of at most 15 digits.
  bool count(std::int64_t& number) {
    const char* const begin = here();
    auto const size = static_cast<std::size_t>(next() - begin);
    if (size - 1 >= 15 || (*begin == '0' && size > 1)) return false;
    ++at_;
    return size <= kWordBytes ? short_count(begin, size, number) : long_count(begin, size, number);
  }
  /// A number from 0, rounded to thousandths: ms become us, as beacon_time() has them.
  bool thousandths(std::int64_t& number) {
    const char* const begin = here();
    ++at_;
    return thousandths_of(begin, here(), number);
  }
  /// The double next to it.
  bool number(double& number) {
    const char* const begin = here();
    ++at_;
    return number_of(begin, here(), number);
  }
  /// A value of any type.
  bool skip() {
    // Most often it is one mark.
    char const mark = *here();
    if (mark == '{' || mark == '[') {
      at_ = past_nested(line_, at_, end_);
      return at_ != nullptr;
    }
    if (mark == ',' || mark == ':' || mark == '}' || mark == ']') return false;
    ++at_;
    return true;
  }
  /// After the last mark.
  bool is_done() const { return at_ == end_; }

 private:
  friend class JsonStage;

  /// `bytes` has no others than 0 to 9.
  static bool are_digits(std::uint64_t bytes) {
    return ((bytes | (bytes + each_byte(0x76))) & each_byte(0x80)) == 0;
  }
  /// Of eight bytes from 0 to 9, the first one is the highest digit.
  static std::uint32_t value_of(std::uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return static_cast<std::uint32_t>(
        ((digits & 0x000000ff000000ff) * (100 + (std::uint64_t{1'000'000} << 32)) +
         ((digits >> 16) & 0x000000ff000000ff) * (1 + (std::uint64_t{10'000} << 32))) >>
        32);
  }
  static bool short_count(const char* begin, std::size_t size, std::int64_t& number) {
    auto const digits = (word_at(begin) ^ each_byte('0')) << 8 * (kWordBytes - size);
    number = value_of(digits);
    return are_digits(digits);
  }
  static bool long_count(const char* begin, std::size_t size, std::int64_t& number);
  static bool thousandths_of(const char* begin, const char* end, std::int64_t& number);
  static bool number_of(const char* begin, const char* end, double& number);
  static const std::uint32_t* past_nested(const char* line, const std::uint32_t* at,
                                          const std::uint32_t* end);

  const char* here() const { return line_ + *at_; }
  const char* next() const { return line_ + at_[1]; }

  const char* line_ = nullptr;
  const std::uint32_t* at_ = nullptr;  ///< the mark
  const std::uint32_t* end_ = nullptr;
  bool has_backslash_ = false;  ///< somewhere in the line
};

/// Makes the marks of a line, and keeps them until the next one.
class JsonStage {
 public:
  /// Longer lines are not walked, so that the marks take at most 4 MiB.
  static constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;

  /// Begins a walk of a line that lives as long as the texts taken, and 64 readable bytes after it.
  /// False if it is too long, or cannot be JSON.
  bool start(std::string_view line, JsonMarks& marks);

 private:
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage_;
};

}  // namespace reprise
