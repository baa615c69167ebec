#include "base/http/traceparent.h"

#include <algorithm>
#include <charconv>

namespace reprise {
namespace {

constexpr std::size_t kTraceDigits = 32;
constexpr std::size_t kSpanDigits = 16;
constexpr std::size_t kLength = 2 + 1 + kTraceDigits + 1 + kSpanDigits + 1 + 2;

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}
bool is_id(std::string_view text) {
  return is_lower_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

std::string digits_of(std::uint64_t number) {
  char text[kSpanDigits];
  auto const end = std::to_chars(text, text + sizeof text, number, 16).ptr;
  std::string const digits(text, end);
  return std::string(kSpanDigits - digits.size(), '0') + digits;
}

}  // namespace

std::optional<TraceParent> parse_traceparent(std::string_view value) {
  if (value.size() < kLength) return std::nullopt;
  auto const version = value.substr(0, 2);
  auto const trace_id = value.substr(3, kTraceDigits);
  auto const span_id = value.substr(4 + kTraceDigits, kSpanDigits);
  auto const flags = value.substr(kLength - 2, 2);
  bool const has_dashes = value[2] == '-' && value[3 + kTraceDigits] == '-' &&
                          value[4 + kTraceDigits + kSpanDigits] == '-';
  // Later versions can append parts.
  bool const ends = value.size() == kLength || (version != "00" && value[kLength] == '-');
  if (!has_dashes || !ends || version == "ff" || !is_lower_hex(version) || !is_id(trace_id) ||
      !is_id(span_id) || !is_lower_hex(flags)) {
    return std::nullopt;
  }
  unsigned bits = 0;
  std::from_chars(flags.data(), flags.data() + flags.size(), bits, 16);
  return TraceParent{.trace_id = std::string(trace_id),
                     .span_id = std::string(span_id),
                     .sampled = (bits & 1) != 0};
}

std::string traceparent(std::uint64_t trace_high, std::uint64_t trace_low, std::uint64_t span) {
  return "00-" + digits_of(trace_high) + digits_of(trace_low) + "-" + digits_of(span) + "-01";
}

}  // namespace reprise
