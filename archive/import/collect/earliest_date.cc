#include "archive/import/collect/earliest_date.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/http/http_date.h"
#include "base/text/white_space.h"

namespace reprise::importing {
namespace {

namespace chrono = std::chrono;

constexpr chrono::sys_seconds kDateMin = chrono::sys_days(chrono::year(1995) / 1 / 1);
constexpr chrono::sys_seconds kDateMax = chrono::sys_days(chrono::year(2100) / 1 / 1);

/// A cache sends the Date that it got, and how long ago that was (RFC 9111 section 5.1).
chrono::seconds age_of(const Fields& fields) {
  auto const* const text = find_field(fields, "Age");
  if (text == nullptr) return {};
  std::uint32_t age = 0;
  auto const digits = trim(*text);
  std::from_chars(digits.data(), digits.data() + digits.size(), age);
  return chrono::seconds(age);
}

}  // namespace

void EarliestDate::take(const Fields& fields) {
  auto const* const text = find_field(fields, "Date");
  auto const date = text == nullptr ? std::nullopt : parse_http_date(trim(*text));
  if (!date) return;
  auto const sent = *date + age_of(fields);
  if (*date < kDateMin || sent > kDateMax) return;
  std::int64_t const ns = chrono::nanoseconds(sent.time_since_epoch()).count();
  earliest_ = std::min(earliest_.value_or(ns), ns);
}

}  // namespace reprise::importing
