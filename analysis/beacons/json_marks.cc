#include "analysis/beacons/json_marks.h"

#include <charconv>

#include "analysis/beacons/beacon_json.h"

namespace reprise {

using simdjson::SUCCESS;

bool JsonStage::start(std::string_view line, JsonMarks& marks) {
  if (line.empty() || line.size() > kLineBytesMax) return false;
  if (stage_ == nullptr && simdjson::get_active_implementation()->create_dom_parser_implementation(
                               kLineBytesMax, 1, stage_) != SUCCESS) {
    return false;
  }
  auto const* const bytes = reinterpret_cast<const std::uint8_t*>(line.data());
  if (stage_->stage1(bytes, line.size(), simdjson::stage1_mode::regular) != SUCCESS) return false;
  auto* const places = stage_->structural_indexes.get();
  auto const count = stage_->n_structural_indexes;
  // After the end there is the last bracket again, twice: only a bracket takes it, and no walk
  // takes two brackets more than the line has, so that no walk leaves the marks.
  if (line[places[count - 1]] != '}') return false;
  places[count] = places[count + 1] = places[count - 1];
  marks.line_ = line.data();
  marks.at_ = places;
  marks.end_ = places + count;
  marks.has_backslash_ = std::memchr(line.data(), '\\', line.size()) != nullptr;
  return true;
}

bool JsonMarks::long_count(const char* begin, std::size_t size, std::int64_t& number) {
  number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    auto const digit = static_cast<unsigned>(begin[i]) - '0';
    if (digit > 9) return false;
    number = 10 * number + digit;
  }
  return true;
}

bool JsonMarks::thousandths_of(const char* begin, const char* end, std::int64_t& number) {
  auto const size = static_cast<std::size_t>(end - begin);
  auto const first = word_at(begin);
  auto const point = place_of('.', first);
  if (size <= kWordBytes && point >= size) {
    if (*begin == '0' && size > 1) return false;
    if (short_count(begin, size, number)) return number *= 1000, true;
  }
  auto const after = size - point - 1;
  if (point - 1 < kWordBytes - 1 && after - 1 < 2 * kWordBytes && (*begin != '0' || point == 1)) {
    auto const whole = (first ^ each_byte('0')) << 8 * (kWordBytes - point);
    auto part = word_at(begin + point + 1) ^ each_byte('0');
    bool are_all = true;
    if (after < kWordBytes) {
      part &= (std::uint64_t{1} << 8 * after) - 1;
    } else {
      are_all = are_digits(word_at(end - kWordBytes) ^ each_byte('0'));
    }
    auto const fraction = value_of(part);
    auto const rest = fraction % 100'000;
    // Close to the middle the rounding of doubles decides.
    if (are_all && are_digits(whole) && are_digits(part) && (rest < 49'990 || rest > 50'010)) {
      number = std::int64_t{value_of(whole)} * 1000 + fraction / 100'000 + (rest > 50'000 ? 1 : 0);
      return true;
    }
  }
  double exact = 0;
  if (!number_of(begin, end, exact)) return false;
  number = beacon_time(exact, 1000);
  return true;
}

bool JsonMarks::number_of(const char* begin, const char* end, double& number) {
  const char* at = begin;
  auto const take_digits = [&at, end] {
    const char* const first = at;
    while (at < end && *at >= '0' && *at <= '9') ++at;
    return at > first;
  };
  if (!take_digits() || (*begin == '0' && at > begin + 1)) return false;
  if (at < end && *at == '.' && (++at, !take_digits())) return false;
  if (at < end && (*at == 'e' || *at == 'E')) {
    if (++at < end && (*at == '+' || *at == '-')) ++at;
    if (!take_digits()) return false;
  }
  if (at != end) return false;
  auto const [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end;
}

const std::uint32_t* JsonMarks::past_nested(const char* line, const std::uint32_t* at,
                                            const std::uint32_t* end) {
  std::size_t depth = 0;
  do {
    if (at >= end) return nullptr;
    char const mark = line[*at++];
    if (mark == '{' || mark == '[') ++depth;
    if (mark == '}' || mark == ']') --depth;
  } while (depth > 0);
  return at;
}

}  // namespace reprise
