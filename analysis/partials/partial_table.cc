#include "analysis/partials/partial_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "analysis/partials/load_bin.h"
#include "base/text/printable.h"
#include "base/text/utf8.h"

namespace reprise {
namespace {

constexpr std::size_t kLineBytesMax = 64 << 10;
constexpr std::size_t kPageBytesMax = 2'048;

void append_number(std::string& text, std::int64_t number) {
  std::array<char, 24> digits;
  auto const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  text.append(digits.begin(), end);
}

std::string day_text(std::int64_t day) {
  std::chrono::year_month_day const date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(day)))};
  auto const two = [](unsigned number) {
    return (number < 10 ? "-0" : "-") + std::to_string(number);
  };
  return std::to_string(int{date.year()}) + two(unsigned{date.month()}) + two(unsigned{date.day()});
}

}  // namespace

bool read_partial_line(std::string_view line, PartialLine& partial) {
  partial.sums.clear();
  auto tab = line.find('\t');
  if (tab == 0 || tab == std::string_view::npos || line.size() > kLineBytesMax) return false;
  partial.key = line.substr(0, tab);
  while (tab < line.size()) {
    std::int64_t sum = -1;
    const char* const begin = line.data() + tab + 1;
    const char* const end = line.data() + line.size();
    auto const [stop, error] = std::from_chars(begin, end, sum);
    if (error != std::errc() || sum < 0 || (stop != end && *stop != '\t')) return false;
    partial.sums.push_back(sum);
    tab = static_cast<std::size_t>(stop - line.data());
  }
  return partial.sums.size() >= 2;
}

void append_key_part(std::string& key, std::string_view text) {
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }) &&
      !is_utf8(text)) {
    return append_key_part(key, as_utf8(text));
  }
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '|' || c == '%') {
      key += '%';
      key += kDigits[byte >> 4];
      key += kDigits[byte & 15];
    } else {
      key += c;
    }
  }
}

void write_partial_line(std::string_view key, std::span<const std::int64_t> sums,
                        const PartialSink& sink) {
  std::string line(key);
  for (auto const sum : sums) append_number(line += '\t', sum);
  sink(line += '\n');
}

PartialTable::PartialTable(const KindRules& rules, const Entities& entities,
                           std::vector<std::string> tags, PartialSink sink)
    : tags_(std::move(tags)),
      sink_(std::move(sink)),
      gap_kind_(rules.gap_kind()),
      calls_(rules, entities),
      sums_(2 + rules.kinds().size(), kKeysMax) {}

void PartialTable::write_key(const BeaconView& view, std::int64_t window_us) {
  constexpr double kDayMs = 86'400'000;
  constexpr double kLastDay = 2'932'896;  // 9999-12-31
  auto const day = view.started_unix_ms.value_or(-1) / kDayMs;
  key_.clear();
  if (day >= 0 && day <= kLastDay) {
    if (std::exchange(day_number_, static_cast<std::int64_t>(day)) != day_number_) {
      day_ = day_text(day_number_);
    }
    key_ = day_;
  }
  key_ += '|';
  append_key_part(key_,
                  view.page.substr(0, std::min(view.page.find_first_of("?#"), kPageBytesMax)));
  for (auto const& name : tags_) {
    key_ += '|';
    auto const tag =
        std::ranges::find(view.tags, name, [](auto const& each) { return each.first; });
    if (tag != view.tags.end()) append_key_part(key_, tag->second);
  }
  append_number(key_ += '|', load_bin(window_us));
}

void PartialTable::add(const BeaconView& view) {
  auto const window_us = view.window_us();
  write_key(view, window_us);
  auto const hash = sums_.expect(key_);
  auto const calls = calls_.flatten(view);
  auto sums = sums_.find(key_, hash);
  if (sums.empty()) {
    flush();
    sums = sums_.find(key_, hash);
  }
  ++sums[0];
  sums[1] += window_us;
  auto const by_kind = sums.subspan(2);
  by_kind[gap_kind_] += shares_.share(calls, window_us, by_kind);
}

void PartialTable::flush() {
  for (auto const& [key, sums] : sums_.sorted()) write_partial_line(key, sums, sink_);
  sums_.clear();
}

std::string PartialMerge::add(std::string_view line) {
  ++lines_;
  if (!read_partial_line(line, read_)) {
    if (++bad_lines_ == 1) first_bad_line_ = lines_;
    return {};
  }
  auto const where = "line " + std::to_string(lines_);
  if (!sums_.empty() && read_.sums.size() != sums_.size()) {
    return where + " has another number of sums than those before: it is of other rules";
  }
  if (sums_.empty() || read_.key != key_) {
    if (!sums_.empty() && read_.key < key_) {
      return where + " is not in the order of LC_ALL=C sort";
    }
    finish();
    key_ = read_.key;
    sums_ = read_.sums;
    return {};
  }
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (__builtin_add_overflow(sums_[i], read_.sums[i], &sums_[i])) {
      return where + " makes a sum that is too large";
    }
  }
  return {};
}

void PartialMerge::finish() {
  if (!sums_.empty()) write_partial_line(key_, sums_, sink_);
  sums_.clear();
}

}  // namespace reprise
