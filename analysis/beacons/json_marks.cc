#include "analysis/beacons/json_marks.h"

#include <charconv>

#include "analysis/beacons/beacon_json.h"

namespace reprise {

using simdjson::SUCCESS;

bool JsonMarks::start(std::string_view line) {
  if (line.empty() || line.size() > kLineBytesMax) return false;
  if (stage_ == nullptr && simdjson::get_active_implementation()->create_dom_parser_implementation(
                               kLineBytesMax, 1, stage_) != SUCCESS) {
    return false;
  }
  auto const* const bytes = reinterpret_cast<const std::uint8_t*>(line.data());
  if (stage_->stage1(bytes, line.size(), simdjson::stage1_mode::regular) != SUCCESS) return false;
  line_ = line.data();
  auto* const marks = stage_->structural_indexes.get();
  auto const count = stage_->n_structural_indexes;
  // After the end there is the last bracket again, twice: only a bracket takes it, and no walk
  // takes two brackets more than the line has, so that no walk leaves the marks.
  if (line_[marks[count - 1]] != '}') return false;
  marks[count] = marks[count + 1] = marks[count - 1];
  at_ = marks;
  end_ = marks + count;
  return true;
}

bool JsonMarks::count(std::int64_t& number) {
  const char* const begin = here();
  auto const size = static_cast<std::size_t>(next() - begin);
  if (size - 1 >= 15 || (*begin == '0' && size > 1)) return false;
  ++at_;
  constexpr auto kWord = sizeof(std::uint64_t);
  if (size <= kWord) {
    auto const digits = (word(begin) ^ each_byte('0')) << 8 * (kWord - size);
    number = value_of(digits);
    return are_digits(digits);
  }
  number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    auto const digit = static_cast<unsigned>(begin[i]) - '0';
    if (digit > 9) return false;
    number = 10 * number + digit;
  }
  return true;
}

bool JsonMarks::thousandths(std::int64_t& number) {
  constexpr auto kWord = sizeof(std::uint64_t);
  const char* const begin = here();
  auto const size = static_cast<std::size_t>(next() - begin);
  auto const first = word(begin);
  auto const point = static_cast<std::size_t>(std::countr_zero(find(first, '.')) / 8);
  if (size <= kWord && point >= size) {
    if (!count(number)) return false;
    number *= 1000;
    return true;
  }
  auto const after = size - point - 1;
  if (point - 1 < kWord - 1 && after - 1 < 2 * kWord && (*begin != '0' || point == 1)) {
    auto const whole = (first ^ each_byte('0')) << 8 * (kWord - point);
    auto part = word(begin + point + 1) ^ each_byte('0');
    if (after < kWord) {
      part &= (std::uint64_t{1} << 8 * after) - 1;
    } else if (!are_digits(word(begin + size - kWord) ^ each_byte('0'))) {
      return false;
    }
    if (!are_digits(whole) || !are_digits(part)) return false;
    auto const fraction = value_of(part);
    auto const rest = fraction % 100'000;
    // Close to the middle the rounding of doubles decides.
    if (rest < 49'990 || rest > 50'010) {
      number = std::int64_t{value_of(whole)} * 1000 + fraction / 100'000 + (rest > 50'000 ? 1 : 0);
      ++at_;
      return true;
    }
  }
  double exact = 0;
  if (!this->number(exact)) return false;
  number = beacon_time(exact, 1000);
  return true;
}

bool JsonMarks::number(double& number) {
  const char* const begin = here();
  const char* const end = next();
  auto const is_digit = [end](const char* at) { return at < end && *at >= '0' && *at <= '9'; };
  const char* at = begin;
  while (is_digit(at)) ++at;
  if (at == begin || (*begin == '0' && at > begin + 1)) return false;
  if (at < end) {
    if (*at++ != '.' || !is_digit(at)) return false;
    while (is_digit(at)) ++at;
  }
  if (at != end) return false;
  ++at_;
  auto const [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end;
}

bool JsonMarks::skip() {
  std::size_t depth = 0;
  do {
    if (at_ >= end_) return false;
    char const mark = *here();
    if (depth == 0 && (mark == ',' || mark == ':')) return false;
    if (mark == '{' || mark == '[') ++depth;
    if ((mark == '}' || mark == ']') && depth-- == 0) return false;
    ++at_;
  } while (depth > 0);
  return true;
}

}  // namespace reprise
