#include "archive/edit/filter_values.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/http/media_type.h"
#include "base/text/glob.h"

namespace reprise {
namespace {

/// In the order of FilterField. A tag has its own name.
constexpr std::string_view kFieldNames[] = {
    "host",     "path",    "query",    "url",     "method",    "scheme",   "type",
    "protocol", "outcome", "header",   "kind",    "name",      "resource", "phase",
    "party",    "entity",  "category", "cdn",     "initiator", "service",  "",
    "status",   "time",    "size",     "session", "number",    "load"};
static_assert(std::size(kFieldNames) == static_cast<std::size_t>(FilterField::kLoad) + 1);

std::string_view name_of(FilterField field) {
  return kFieldNames[static_cast<std::size_t>(field)];
}

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

struct NamedUnit {
  std::string_view name;
  double factor;
};

std::span<const NamedUnit> units_of(FilterField field) {
  static constexpr NamedUnit kTimes[] = {
      {"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"m", 60e9}};
  static constexpr NamedUnit kSizes[] = {
      {"", 1},     {"b", 1},    {"k", 1e3},    {"m", 1e6},       {"g", 1e9},         {"kb", 1e3},
      {"mb", 1e6}, {"gb", 1e9}, {"kib", 1024}, {"mib", 1048576}, {"gib", 1073741824}};
  static constexpr NamedUnit kCounts[] = {{"", 1}};
  if (field == FilterField::kTime || field == FilterField::kLoad) return kTimes;
  if (field == FilterField::kSize) return kSizes;
  return kCounts;
}

/// "2.5s" for a time, "10k" for a size.
std::optional<std::int64_t> parse_number(FilterField field, std::string_view text) {
  double number = 0;
  auto const [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  auto const unit_name = lower_case(text.substr(static_cast<std::size_t>(end - text.data())));
  for (const NamedUnit& unit : units_of(field)) {
    if (unit.name != unit_name) continue;
    auto const scaled = number * unit.factor;
    if (!(scaled > -9e18 && scaled < 9e18)) return std::nullopt;
    return static_cast<std::int64_t>(scaled);
  }
  return std::nullopt;
}

std::string_view example_of(FilterField field) {
  switch (field) {
    case FilterField::kStatus:
      return "404, 4xx, 400-499, >=400 or none";
    case FilterField::kTime:
      return "<2.5, 1s-3s or 300ms-2s, in seconds since the start";
    case FilterField::kLoad:
      return ">2.5, 1s-3s or <800ms";
    case FilterField::kSize:
      return ">100k, <1M or 10KiB-1MiB";
    default:
      return "3, 2-5 or >=2";
  }
}

/// Without a response the status is not known; in numbers it is 0, which no range has.
FilterValue range_of(FilterField field, std::int64_t low, std::int64_t high) {
  if (field == FilterField::kStatus) low = std::max<std::int64_t>(low, 1);
  return {.text = {}, .low = low, .high = high};
}

std::optional<FilterValue> parse_range(FilterField field, std::string_view comparison,
                                       std::string_view text) {
  for (std::string_view const known : {"<=", ">=", "<", ">"}) {
    if (!comparison.empty() || !text.starts_with(known)) continue;
    comparison = known;
    text.remove_prefix(known.size());
  }
  if (field == FilterField::kStatus && comparison.empty()) {
    if (text == "none") return FilterValue{.text = {}, .low = 0, .high = 0};
    if (text.size() == 3 && lower_case(text.substr(1)) == "xx" && text[0] >= '1' &&
        text[0] <= '9') {
      auto const hundreds = (text[0] - '0') * 100;
      return FilterValue{.text = {}, .low = hundreds, .high = hundreds + 99};
    }
  }
  // A minus at the start is a sign; one after a number separates a range.
  auto const dash = text.find('-', 1);
  if (comparison.empty() && dash != std::string_view::npos) {
    auto const low = parse_number(field, text.substr(0, dash));
    auto const high = parse_number(field, text.substr(dash + 1));
    if (!low || !high || *low > *high) return std::nullopt;
    return range_of(field, *low, *high);
  }
  auto const number = parse_number(field, text);
  if (!number) return std::nullopt;
  if (comparison.empty()) return FilterValue{.text = {}, .low = *number, .high = *number};
  if (comparison == "<") return range_of(field, kLowest, *number - 1);
  if (comparison == "<=") return range_of(field, kLowest, *number);
  return range_of(field, comparison == ">" ? *number + 1 : *number, kHighest);
}

std::optional<std::string> check_word(FilterField field, std::string_view text) {
  auto const one_of = [text](std::initializer_list<std::string_view> words, const char* what) {
    if (std::ranges::find(words, text) != words.end()) return std::optional<std::string>();
    return std::optional<std::string>(what);
  };
  switch (field) {
    case FilterField::kScheme:
      return one_of({"http", "https"}, "the scheme must be http or https");
    case FilterField::kProtocol:
      return one_of({"http/1.0", "http/1.1", "h1", "h2", "h3", "unknown"},
                    "the protocol must be HTTP/1.0, HTTP/1.1, h1 (both), h2, h3 or unknown");
    case FilterField::kOutcome:
      return one_of({"complete", "cut", "cut-by-client", "cut-by-origin", "failed"},
                    "the outcome must be complete, cut, cut-by-client, cut-by-origin or failed");
    case FilterField::kKind:
      return one_of({"request", "phase", "span", "task", "measure"},
                    "the kind must be request, phase, span, task or measure");
    case FilterField::kParty:
      return one_of({"first", "third"}, "the party must be first or third");
    default:
      return std::nullopt;
  }
}

bool allows_host(std::string_view pattern, std::string_view host) {
  // ".example.org" is the host and its subdomains.
  if (pattern.starts_with('.')) {
    return fits_glob(pattern.substr(1), host) || fits_glob("*" + std::string(pattern), host);
  }
  return fits_glob(pattern, host);
}

bool allows_url(std::string_view pattern, std::string_view url) {
  return pattern.contains('*') ? fits_glob(pattern, url) : url.contains(pattern);
}

bool allows_type(const std::string& wanted, std::string_view type) {
  if (wanted == "none") return type.empty();
  return is_kind_name(wanted) ? is_of_kind(type, wanted) : fits_glob(wanted, type);
}

bool allows_protocol(std::string_view wanted, std::string_view name) {
  return wanted == "h1" ? name.starts_with("http/1") : name == wanted;
}

bool allows_outcome(std::string_view wanted, std::string_view outcome) {
  return wanted == outcome || (wanted == "cut" && outcome.starts_with("cut-"));
}

bool allows_header(std::string_view wanted, HeaderList headers) {
  auto const colon = wanted.find(':');
  auto const name = wanted.substr(0, colon);
  auto value = colon == std::string_view::npos ? std::string_view("*") : wanted.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  return std::ranges::any_of(headers, [&](const HeaderView& field) {
    return equals_ignoring_case(field.name, name) && fits_glob(value, field.value);
  });
}

}  // namespace

std::optional<FilterField> field_called(std::string_view name, const FilterVocabulary& vocabulary) {
  for (FilterField const field : vocabulary.fields) {
    if (name_of(field) == name) return field;
  }
  if (vocabulary.tags && !name.empty()) return FilterField::kTag;
  return std::nullopt;
}

std::string field_names(const FilterVocabulary& vocabulary) {
  std::string names;
  for (FilterField const field : vocabulary.fields) {
    if (!names.empty()) names += ", ";
    names += name_of(field);
  }
  return names;
}

bool is_number(FilterField field) {
  return field >= FilterField::kStatus;
}

std::expected<FilterValue, std::string> parse_value(FilterField field, std::string_view comparison,
                                                    std::string_view text) {
  if (is_number(field)) {
    auto range = parse_range(field, comparison, text);
    if (range) return std::move(*range);
    return std::unexpected("'" + std::string(text) + "' is not valid here; valid are " +
                           std::string(example_of(field)));
  }
  if (!comparison.empty()) return std::unexpected("< and > work with number fields only");
  auto const keeps_case = field == FilterField::kPath || field == FilterField::kQuery ||
                          field == FilterField::kUrl || field == FilterField::kHeader ||
                          field == FilterField::kName || field == FilterField::kInitiator ||
                          field == FilterField::kTag;
  FilterValue value{.text = keeps_case ? std::string(text) : lower_case(text), .low = 0, .high = 0};
  if (auto wrong = check_word(field, value.text)) return std::unexpected(std::move(*wrong));
  return value;
}

bool allows(FilterField field, std::string_view tag, const FilterValue& value,
            const FilterSubject& subject) {
  if (is_number(field)) {
    auto const number = subject.number(field);
    return number && value.low <= *number && *number <= value.high;
  }
  if (field == FilterField::kHeader) return allows_header(value.text, subject.headers());
  std::string buffer;
  auto const text = subject.text(field, tag, buffer);
  switch (field) {
    case FilterField::kHost:
      return allows_host(value.text, text);
    case FilterField::kUrl:
      return allows_url(value.text, text);
    case FilterField::kType:
      return allows_type(value.text, text);
    case FilterField::kProtocol:
      return allows_protocol(value.text, text);
    case FilterField::kOutcome:
      return allows_outcome(value.text, text);
    default:
      return fits_glob(value.text, text);
  }
}

}  // namespace reprise
