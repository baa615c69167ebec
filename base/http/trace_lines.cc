#include "base/http/trace_lines.h"

#include <algorithm>
#include <charconv>

#include "base/http/headers.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

/// No name of a count, and no number of 64 bits without zeros before it, is longer.
constexpr std::size_t kNameBytesMax = 20;

/// Whether a line begins here: "url=", the name of a count, or a number and "=". Reads no further,
/// since a field can be full of commas.
bool begins_line(std::string_view text) {
  if (starts_with_ignoring_case(text, kTraceUrl)) return true;
  auto const equals = text.substr(0, kNameBytesMax + 1).find('=');
  if (equals == std::string_view::npos) return false;
  auto const name = text.substr(0, equals);
  return trace_number(name).has_value() || std::ranges::any_of(kTraceCounts, [name](auto count) {
           return equals_ignoring_case(count, name);
         });
}

}  // namespace

std::optional<std::uint64_t> trace_number(std::string_view text) {
  std::uint64_t number = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || stop != end || error != std::errc()) return std::nullopt;
  return number;
}

std::string_view take_trace_line(std::string_view& rest) {
  auto const is_joint = [rest](std::size_t at) {
    return begins_line(rest.substr(std::min(rest.find_first_not_of(" \t", at + 1), rest.size())));
  };
  auto comma = rest.find(',');
  while (comma != std::string_view::npos && !is_joint(comma)) {
    comma = rest.find(',', comma + 1);
  }
  auto const line = trim_blanks(rest.substr(0, comma));
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  return line;
}

}  // namespace reprise
