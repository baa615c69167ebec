#include "archive/edit/filter_values.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/http/media_type.h"
#include "base/text/glob.h"

namespace reprise {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

constexpr std::pair<std::string_view, FilterField> kFields[] = {
    {"host", FilterField::kHost},       {"path", FilterField::kPath},
    {"query", FilterField::kQuery},     {"url", FilterField::kUrl},
    {"method", FilterField::kMethod},   {"scheme", FilterField::kScheme},
    {"type", FilterField::kType},       {"protocol", FilterField::kProtocol},
    {"outcome", FilterField::kOutcome}, {"header", FilterField::kHeader},
    {"status", FilterField::kStatus},   {"time", FilterField::kTime},
    {"size", FilterField::kSize},       {"session", FilterField::kSession},
    {"number", FilterField::kNumber},
};

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
  if (field == FilterField::kTime) return kTimes;
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
      return "<2.5, 1s-3s or 300ms-2s, in seconds since the session's start";
    case FilterField::kSize:
      return ">100k, <1M or 10KiB-1MiB";
    default:
      return "3, 2-5 or >=2";
  }
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
    return FilterValue{.text = {}, .low = *low, .high = *high};
  }
  auto const number = parse_number(field, text);
  if (!number) return std::nullopt;
  FilterValue value{.text = {}, .low = *number, .high = *number};
  if (comparison.starts_with('<')) value.low = kLowest;
  if (comparison.starts_with('>')) value.high = kHighest;
  if (comparison == "<") --value.high;
  if (comparison == ">") ++value.low;
  return value;
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

bool allows_url(std::string_view pattern, const std::string& url) {
  return pattern.contains('*') ? fits_glob(pattern, url) : url.contains(pattern);
}

bool allows_type(const std::string& wanted, HeaderList headers) {
  auto const type = media_type(headers);
  if (wanted == "none") return type.empty();
  return is_kind_name(wanted) ? is_of_kind(type, wanted) : fits_glob(wanted, type);
}

bool allows_protocol(std::string_view wanted, const Exchange& exchange) {
  auto const version =
      exchange.response.status == 0 ? exchange.request.version : exchange.response.version;
  auto const name = lower_case(to_string(version));
  return wanted == "h1" ? name.starts_with("http/1") : name == wanted;
}

bool allows_outcome(std::string_view wanted, Outcome outcome) {
  switch (outcome) {
    case Outcome::kComplete:
      return wanted == "complete";
    case Outcome::kCutByClient:
      return wanted == "cut" || wanted == "cut-by-client";
    case Outcome::kCutByOrigin:
      return wanted == "cut" || wanted == "cut-by-origin";
    case Outcome::kOriginFailed:
      return wanted == "failed";
  }
  return false;
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

/// The start of the exchange, as far as it is known.
SessionTime begin_of(const Timings& timings) {
  for (auto const time : {timings.queued, timings.request_sent, timings.first_byte, timings.end}) {
    if (time != kNoTime) return time;
  }
  return kNoTime;
}

bool allows_number(const FilterValue& value, std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(kHighest)) return value.high == kHighest;
  auto const found = static_cast<std::int64_t>(number);
  return value.low <= found && found <= value.high;
}

}  // namespace

std::optional<FilterField> field_called(std::string_view name) {
  for (auto const& [known, field] : kFields) {
    if (known == name) return field;
  }
  return std::nullopt;
}

std::string field_names() {
  std::string names;
  for (auto const& [name, field] : kFields) {
    if (!names.empty()) names += ", ";
    names += name;
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
                          field == FilterField::kUrl || field == FilterField::kHeader;
  FilterValue value{.text = keeps_case ? std::string(text) : lower_case(text), .low = 0, .high = 0};
  if (auto wrong = check_word(field, value.text)) return std::unexpected(std::move(*wrong));
  return value;
}

bool allows(FilterField field, const FilterValue& value, const Exchange& exchange,
            std::size_t number) {
  auto const& request = exchange.request;
  auto const& response = exchange.response;
  std::string_view const target = request.target;
  auto const query_at = std::min(target.find('?'), target.size());
  switch (field) {
    case FilterField::kHost:
      return allows_host(value.text, request.host);
    case FilterField::kPath:
      return fits_glob(value.text, target.substr(0, query_at));
    case FilterField::kQuery:
      return fits_glob(value.text, target.substr(std::min(query_at + 1, target.size())));
    case FilterField::kUrl:
      return allows_url(value.text, url_of(request));
    case FilterField::kMethod:
      return fits_glob(value.text, lower_case(request.method));
    case FilterField::kScheme:
      return value.text == to_string(request.scheme);
    case FilterField::kType:
      return allows_type(value.text, response.headers.list());
    case FilterField::kProtocol:
      return allows_protocol(value.text, exchange);
    case FilterField::kOutcome:
      return allows_outcome(value.text, exchange.outcome);
    case FilterField::kHeader:
      return allows_header(value.text, response.headers.list());
    case FilterField::kStatus:
      return allows_number(value, response.status);
    case FilterField::kTime: {
      auto const begin = begin_of(exchange.timings);
      return begin != kNoTime && value.low <= begin.count() && begin.count() <= value.high;
    }
    case FilterField::kSize:
      return allows_number(value, response.body.size_bytes);
    case FilterField::kSession:
      return allows_number(value, exchange.session);
    case FilterField::kNumber:
      return allows_number(value, number);
  }
  return false;
}

}  // namespace reprise
