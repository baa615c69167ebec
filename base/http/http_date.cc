#include "base/http/http_date.h"

#include <algorithm>
#include <array>

namespace reprise {
namespace {

/// Parses a date from its start. After an error it stays failed.
class DateScan {
 public:
  explicit DateScan(std::string_view text) : rest_(text) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  char front() const { return rest_.empty() ? '\0' : rest_.front(); }

  void skip_word() {
    while (!rest_.empty() && rest_.front() != ' ' && rest_.front() != ',') rest_.remove_prefix(1);
  }
  void skip(std::string_view text) {
    failed_ = failed_ || !rest_.starts_with(text);
    if (!failed_) rest_.remove_prefix(text.size());
  }
  /// Exactly this many digits.
  int number(std::size_t digits) {
    int value = 0;
    failed_ = failed_ || rest_.size() < digits;
    for (std::size_t i = 0; i < digits && !failed_; ++i) {
      failed_ = rest_[i] < '0' || rest_[i] > '9';
      value = value * 10 + (rest_[i] - '0');
    }
    if (!failed_) rest_.remove_prefix(digits);
    return value;
  }
  unsigned month() {
    static constexpr std::array<std::string_view, 12> kNames{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    auto const* const found = std::ranges::find(kNames, rest_.substr(0, 3));
    failed_ = failed_ || found == kNames.end();
    if (failed_) return 0;
    rest_.remove_prefix(3);
    return static_cast<unsigned>(found - kNames.begin()) + 1;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

struct Moment {
  int year = 0;
  unsigned month = 0;
  int day = 0;
  std::chrono::seconds time{};
};

std::chrono::seconds scan_time(DateScan& scan) {
  int const hours = scan.number(2);
  scan.skip(":");
  int const minutes = scan.number(2);
  scan.skip(":");
  int const seconds = scan.number(2);
  bool const valid = hours < 24 && minutes < 60 && seconds <= 60;  // a leap second
  if (!valid) scan.skip("no such time");
  return std::chrono::hours(hours) + std::chrono::minutes(minutes) + std::chrono::seconds(seconds);
}

/// After "Sun Nov": the form of asctime().
void scan_asctime(DateScan& scan, Moment& moment) {
  moment.month = scan.month();
  scan.skip(" ");
  bool const padded = scan.front() == ' ';
  if (padded) scan.skip(" ");
  moment.day = scan.number(padded ? 1 : 2);
  scan.skip(" ");
  moment.time = scan_time(scan);
  scan.skip(" ");
  moment.year = scan.number(4);
}

void scan_with_comma(DateScan& scan, Moment& moment) {
  moment.day = scan.number(2);
  bool const dashes = scan.front() == '-';
  std::string_view const between = dashes ? "-" : " ";
  scan.skip(between);
  moment.month = scan.month();
  scan.skip(between);
  moment.year = scan.number(dashes ? 2 : 4);
  if (dashes) moment.year += moment.year < 70 ? 2000 : 1900;
  scan.skip(" ");
  moment.time = scan_time(scan);
  scan.skip(" GMT");
}

}  // namespace

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
  DateScan scan(text);
  Moment moment;
  scan.skip_word();
  if (scan.front() == ',') {
    scan.skip(", ");
    scan_with_comma(scan, moment);
  } else {
    scan.skip(" ");
    scan_asctime(scan, moment);
  }
  if (scan.failed() || !scan.at_end()) return std::nullopt;
  std::chrono::year_month_day const date(std::chrono::year(moment.year),
                                         std::chrono::month(moment.month),
                                         std::chrono::day(static_cast<unsigned>(moment.day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + moment.time;
}

}  // namespace reprise
