#include "proxy/replay/response/preconditions.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "base/http/http_date.h"

namespace reprise {
namespace {

constexpr std::array<std::string_view, 5> kFields = {"range", "if-match", "if-none-match",
                                                     "if-modified-since", "if-unmodified-since"};

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view without_weakness(std::string_view tag) {
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  return tag;
}

/// RFC 9110 section 13.1.1: `list` is "*" or entity tags, separated by commas.
bool lists(std::string_view list, std::optional<std::string_view> etag, bool weakly) {
  if (list == "*") return true;
  if (!etag || etag->empty()) return false;
  auto const wanted = weakly ? without_weakness(*etag) : *etag;
  while (!list.empty()) {
    if (is_blank(list.front()) || list.front() == ',') {
      list.remove_prefix(1);
      continue;
    }
    // A tag may contain a comma, so the wanted tag is compared before searching for the next one.
    auto const tag = weakly ? without_weakness(list) : list;
    if (tag.starts_with(wanted)) {
      auto const rest = tag.substr(wanted.size());
      auto const next = rest.find_first_not_of(" \t");
      if (next == std::string_view::npos || rest[next] == ',') return true;
    }
    list.remove_prefix(std::min(list.find(','), list.size()));
  }
  return false;
}

std::optional<std::chrono::sys_seconds> date_of(HeaderList headers, std::string_view name) {
  auto const text = find_header(headers, name);
  return text ? parse_http_date(*text) : std::nullopt;
}

/// The dates of a stored Last-Modified, as recorded and as moved.
struct Dates {
  Dates(std::chrono::sys_seconds recorded, std::chrono::seconds shift)
      : first(std::min(recorded, recorded + shift)), last(std::max(recorded, recorded + shift)) {}
  bool contain(std::optional<std::chrono::sys_seconds> date) const {
    return date && *date >= first && *date <= last;
  }

  std::chrono::sys_seconds first;
  std::chrono::sys_seconds last;
};

std::optional<Dates> dates_of(HeaderList stored, std::chrono::seconds shift) {
  auto const modified = date_of(stored, "last-modified");
  return modified ? std::optional(Dates(*modified, shift)) : std::nullopt;
}

/// Whether If-Range permits to send parts.
bool if_range_holds(HeaderList request, HeaderList stored, std::chrono::seconds shift) {
  auto const given = find_header(request, "if-range");
  if (!given) return true;
  if (given->size() >= 2 && given->ends_with('"')) {
    return find_header(stored, "etag") == given;
  }
  auto const modified = dates_of(stored, shift);
  return modified && modified->contain(parse_http_date(*given));
}

/// Parses "0-99, 200-, -5" item by item.
class RangeScan {
 public:
  explicit RangeScan(std::string_view text) : rest_(text) {}

  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool at(char c) const { return !rest_.empty() && rest_.front() == c; }
  /// nullopt if it is absent, or too large for a length.
  std::optional<std::uint64_t> number() {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    std::uint64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      auto const digit = static_cast<std::uint64_t>(rest_[digits] - '0');
      if (value > (kMax - digit) / 10) return std::nullopt;
      value = value * 10 + digit;
    }
    if (digits == 0) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }

 private:
  std::string_view rest_;
};

/// One item; nothing if it is malformed. Empty if it is outside the content.
std::optional<ByteRange> scan_range(RangeScan& scan, std::uint64_t size) {
  scan.skip_blanks();
  bool const suffix = scan.at('-');
  std::uint64_t first = 0;
  if (!suffix) {
    auto const number = scan.number();
    if (!number) return std::nullopt;
    first = *number;
    scan.skip_blanks();
  }
  if (!scan.take('-')) return std::nullopt;
  scan.skip_blanks();
  if (!suffix && (scan.at_end() || scan.at(','))) return ByteRange{first, size};
  auto const last = scan.number();
  if (!last) return std::nullopt;
  scan.skip_blanks();
  if (!scan.at_end() && !scan.at(',')) return std::nullopt;
  if (suffix) return ByteRange{size - std::min(*last, size), size};
  return ByteRange{first, *last < size ? *last + 1 : size};
}

}  // namespace

bool is_conditional_or_partial(HeaderList request) {
  return std::ranges::any_of(request, [](const HeaderView& field) {
    return std::ranges::any_of(kFields, [&field](std::string_view name) {
      return equals_ignoring_case(field.name, name);
    });
  });
}

bool same_conditions(HeaderList recorded, HeaderList asked, std::chrono::seconds date_shift) {
  auto const same = [&](std::string_view name) {
    auto const then = date_of(recorded, name);
    return find_header(recorded, name) == find_header(asked, name) ||
           (then && Dates(*then, date_shift).contain(date_of(asked, name)));
  };
  return std::ranges::all_of(kFields, same) && same("if-range");
}

Precondition check_preconditions(HeaderList request, HeaderList stored,
                                 std::chrono::seconds date_shift) {
  auto const etag = find_header(stored, "etag");
  auto const modified = dates_of(stored, date_shift);
  if (find_header(request, "if-unmodified-since")) {
    auto const since = date_of(request, "if-unmodified-since");
    if (!modified || !since || *since < modified->first) return Precondition::kFailed;
  }
  if (auto const match = find_header(request, "if-match"); match && !lists(*match, etag, false)) {
    return Precondition::kFailed;
  }
  auto const none_match = find_header(request, "if-none-match");
  bool const has_copy = none_match
                            ? lists(*none_match, etag, true)
                            : modified && modified->contain(date_of(request, "if-modified-since"));
  return has_copy ? Precondition::kNotModified : Precondition::kHolds;
}

Selection select_ranges(HeaderList request, HeaderList stored, std::uint64_t size,
                        std::chrono::seconds date_shift) {
  constexpr std::string_view kUnit = "bytes=";
  auto const field = find_header(request, "range");
  if (!field || field->size() <= kUnit.size() ||
      !equals_ignoring_case(field->substr(0, kUnit.size()), kUnit) ||
      header_has_token(stored, "accept-ranges", "none") ||
      !if_range_holds(request, stored, date_shift)) {
    return {};
  }
  Selection selection{.kind = Selection::Kind::kParts};
  RangeScan scan(field->substr(kUnit.size()));
  std::uint64_t total = 0;
  do {
    auto const range = scan_range(scan, size);
    if (!range) return {.kind = Selection::Kind::kUnsatisfiable};
    if (range->begin < range->end) {
      selection.ranges.push_back(*range);
      total += range->size();
    } else if (range->begin == 0) {
      return {};  // nothing of it exists
    }
  } while (scan.take(','));
  if (total > size) return {};  // cheaper as a whole
  if (selection.ranges.empty()) selection.kind = Selection::Kind::kUnsatisfiable;
  return selection;
}

}  // namespace reprise
