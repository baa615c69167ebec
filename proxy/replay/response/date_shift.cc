#include "proxy/replay/response/date_shift.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/http/headers.h"
#include "base/http/http_date.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::array<const char*, 7> kWeekdays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
// "Sun, 06 Nov 1994 08:49:37 GMT", or with dashes as in cookies: with a year of four digits or two.
constexpr std::size_t kLongBytes = 29;
constexpr std::size_t kShortBytes = 27;

/// Parses a date in one of these forms.
std::optional<std::chrono::sys_seconds> parse_fixed_width(std::string_view text) {
  bool const is_short = text.size() == kShortBytes && text[7] == '-';
  if ((text.size() != kLongBytes && !is_short) || text[3] != ',') return std::nullopt;
  if (is_short) return parse_http_date(text);
  std::string spaced(text);
  if (text[7] == '-' && text[11] == '-') spaced[7] = spaced[11] = ' ';
  return parse_http_date(spaced);
}

/// "Sun, 6 Nov 1994 ..." as "Sun, 06 Nov 1994 ...": no date of HTTP, but browsers take it as one.
std::string with_day_of_two_digits(std::string_view given) {
  std::string text(given);
  bool const has_one =
      text.size() > 7 && text[3] == ',' && text[5] != '0' && (text[6] == ' ' || text[6] == '-');
  if (has_one) text.insert(5, 1, '0');
  return text;
}

std::optional<std::string> move_date(std::string_view given, std::chrono::seconds by) {
  auto const text = with_day_of_two_digits(given);
  auto const date = parse_fixed_width(text);
  if (!date || by.count() == 0) return std::nullopt;
  auto const moved = *date + by;
  auto const day = std::chrono::floor<std::chrono::days>(moved);
  std::chrono::year_month_day const calendar(day);
  std::chrono::hh_mm_ss const time(moved - day);
  auto const year = static_cast<int>(calendar.year());
  bool const is_short = text.size() == kShortBytes;
  if (year < 1 || year > 9999 || (is_short && (year < 1970 || year > 2069))) return std::nullopt;
  char const between = text[7];
  char result[64];
  std::snprintf(result, sizeof result, "%s, %02u%c%s%c%0*d %02d:%02d:%02d GMT",
                kWeekdays[std::chrono::weekday(day).c_encoding()],
                static_cast<unsigned>(calendar.day()), between,
                kMonths[static_cast<unsigned>(calendar.month()) - 1], between, is_short ? 2 : 4,
                is_short ? year % 100 : year, static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
  return result;
}

/// The cookie with the date of its Expires attribute moved.
std::optional<std::string> move_cookie(std::string_view cookie, std::chrono::seconds by) {
  for (auto at = cookie.find(';'); at != std::string_view::npos; at = cookie.find(';', at + 1)) {
    auto const end = std::min(cookie.find(';', at + 1), cookie.size());
    auto const attribute = cookie.substr(at + 1, end - at - 1);
    auto const equals = attribute.find('=');
    if (equals == std::string_view::npos ||
        !equals_ignoring_case(trim(attribute.substr(0, equals)), "expires")) {
      continue;
    }
    auto const date = trim(attribute.substr(equals + 1));
    auto const moved = move_date(date, by);
    if (!moved) return std::nullopt;
    std::string result(cookie);
    return result.replace(static_cast<std::size_t>(date.data() - cookie.data()), date.size(),
                          *moved);
  }
  return std::nullopt;
}

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(
      names, [name](std::string_view each) { return equals_ignoring_case(name, each); });
}

}  // namespace

std::optional<std::string> DateShift::moved(std::string_view name, std::string_view value) const {
  if (is_any_of(name, {"date", "expires", "last-modified"})) return move_date(value, by_);
  return equals_ignoring_case(name, "set-cookie") ? move_cookie(value, by_) : std::nullopt;
}

}  // namespace reprise
