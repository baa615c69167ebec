#include "archive/import/collect/http_text.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/http/headers.h"
#include "base/text/white_space.h"

namespace reprise::importing {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  auto const* const end = text.data() + text.size();
  auto const read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

/// Removes and returns the text before the first space.
std::string_view take_word(std::string_view& text) {
  auto const word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

std::optional<Scheme> parse_scheme(std::string_view text) {
  auto const name = lower_case(text);
  if (name == "https" || name == "wss") return Scheme::kHttps;
  if (name == "http" || name == "ws") return Scheme::kHttp;
  return std::nullopt;
}

/// Days since 1970 (Howard Hinnant's algorithm, public domain).
std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2 ? 1 : 0;
  auto const era = year / 400;
  auto const of_era = static_cast<unsigned>(year - era * 400);
  auto const of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  auto const day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
  return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

/// Takes `count` digits from the start of `text`.
std::optional<unsigned> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  auto const number = parse_number<unsigned>(text.substr(0, count));
  text.remove_prefix(count);
  return number;
}

bool take_char(std::string_view& text, std::string_view allowed) {
  if (text.empty() || allowed.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t take_fraction(std::string_view& text) {
  std::int64_t nanoseconds = 0;
  std::int64_t unit = kSecond / 10;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    nanoseconds += (text.front() - '0') * unit;
    unit /= 10;
    text.remove_prefix(1);
  }
  return nanoseconds;
}

/// "Z", "+02:00", "-0330" or nothing.
std::optional<std::int64_t> take_zone(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return 0;
  auto const sign = text.front() == '-' ? -1 : 1;
  if (!take_char(text, "+-")) return std::nullopt;
  auto const hours = take_digits(text, 2);
  take_char(text, ":");
  auto const minutes = take_digits(text, 2);
  if (!hours || !minutes || !text.empty()) return std::nullopt;
  return sign * (static_cast<std::int64_t>(*hours) * 3600 + *minutes * 60) * kSecond;
}

/// Takes field lines from the start of `text`, at most kFieldsMax.
Fields take_fields(std::string_view& text) {
  Fields fields;
  while (!text.empty() && fields.size() < kFieldsMax) {
    auto const end = std::min(text.find('\n'), text.size());
    auto const line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && (line.front() == ' ' || line.front() == '\t')) {
      if (!fields.empty() && !trim(line).empty()) {
        auto& value = fields.back().value;
        value.append(value.empty() ? "" : " ").append(trim(line));
      }
      continue;
    }
    auto const colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) continue;
    fields.push_back({.name = std::string(trim(line.substr(0, colon))),
                      .value = std::string(trim(line.substr(colon + 1)))});
  }
  return fields;
}

/// `parts`: year, month, day, hour, minute, second; later ones may be missing.
std::optional<std::int64_t> time_of(const unsigned (&parts)[6]) {
  auto const [year, month, day, hour, minute, second] = parts;
  if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
      minute > 59 || second > 60) {
    return std::nullopt;
  }
  return (days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second) * kSecond;
}

}  // namespace

const std::string* find_field(const Fields& fields, std::string_view name) {
  auto const found = std::ranges::find_if(
      fields, [name](const Field& field) { return equals_ignoring_case(field.name, name); });
  return found == fields.end() ? nullptr : &found->value;
}

void remove_fields(Fields& fields, std::string_view name) {
  std::erase_if(fields,
                [name](const Field& field) { return equals_ignoring_case(field.name, name); });
}

bool announces_content(const Fields& fields) {
  auto const* const length = find_field(fields, "Content-Length");
  return length != nullptr && parse_number<std::uint64_t>(trim(*length)).value_or(0) > 0;
}

std::string clean_target(std::string_view target) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string clean;
  clean.reserve(target.size());
  for (char const c : target) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f) {
      clean += c;
      continue;
    }
    clean += '%';
    clean += kHex[byte >> 4];
    clean += kHex[byte & 15];
  }
  return clean;
}

std::optional<Url> parse_url(std::string_view text) {
  text = trim(text);
  if (text.size() > 1 && text.front() == '<' && text.back() == '>') {
    text = text.substr(1, text.size() - 2);  // brackets, as in WARC/1.0
  }
  auto const colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  auto const scheme = parse_scheme(text.substr(0, colon));
  if (!scheme) return std::nullopt;
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find('#'));
  auto authority = text.substr(0, text.find_first_of("/?"));
  auto const rest = text.substr(authority.size());
  if (auto const at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  Url url{.scheme = *scheme, .port = default_port(*scheme)};
  auto const bracket = authority.rfind(']');
  auto const port_at = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (port_at != std::string_view::npos) {
    auto const digits = authority.substr(port_at + 1);
    auto const port = parse_number<std::uint16_t>(digits);
    if (!digits.empty() && (!port || *port == 0)) return std::nullopt;
    if (port) url.port = *port;
    authority = authority.substr(0, port_at);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) {
    authority = authority.substr(1, authority.size() - 2);
  }
  url.host = lower_case(authority);
  auto const bad_host = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (url.host.empty() || url.host.size() > 255 || std::ranges::any_of(url.host, bad_host)) {
    return std::nullopt;
  }
  url.target = (rest.starts_with('/') ? "" : "/") + clean_target(rest);
  return url;
}

HttpVersion parse_version(std::string_view text) {
  auto const name = lower_case(trim(text));
  if (name == "http/1.1") return HttpVersion::kHttp11;
  if (name == "http/1.0" || name == "http/0.9") return HttpVersion::kHttp10;
  if (name == "h2" || name == "h2c" || name == "http/2" || name == "http/2.0") {
    return HttpVersion::kH2;
  }
  if (name.starts_with("h3") || name.starts_with("http/3") || name.find("quic") != name.npos) {
    return HttpVersion::kH3;
  }
  return HttpVersion::kUnknown;
}

std::optional<RequestLine> parse_request_line(std::string_view line) {
  line = trim(line);
  RequestLine out{.method = std::string(take_word(line))};
  auto const version_at = line.rfind(' ');
  if (version_at != std::string_view::npos &&
      lower_case(line.substr(version_at + 1)).starts_with("http/")) {
    out.version = parse_version(line.substr(version_at + 1));
    line = trim(line.substr(0, version_at));
  }
  out.target = line;
  auto const is_letter = [](char c) { return c > 0x20 && c < 0x7f && c != '/' && c != ':'; };
  if (out.method.empty() || !std::ranges::all_of(out.method, is_letter) || line.empty()) {
    return std::nullopt;
  }
  return out;
}

std::optional<StatusLine> parse_status_line(std::string_view line) {
  line = trim(line);
  auto const version = take_word(line);
  if (!lower_case(version).starts_with("http/") && lower_case(version) != "icy")
    return std::nullopt;
  auto const status = parse_number<std::uint16_t>(take_word(line));
  if (!status || *status < 100 || *status > 999) return std::nullopt;
  return StatusLine{
      .version = parse_version(version), .status = *status, .reason = std::string(trim(line))};
}

Fields parse_fields(std::string_view text) {
  return take_fields(text);
}

Head parse_head(std::string_view text) {
  auto const end = std::min(text.find('\n'), text.size());
  Head head{.first_line = std::string(trim(text.substr(0, end)))};
  text.remove_prefix(std::min(end + 1, text.size()));
  head.fields = take_fields(text);
  head.is_cut = !trim(text).empty();
  return head;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  text = trim(text);
  unsigned parts[6] = {0, 1, 1, 0, 0, 0};
  constexpr std::string_view kBefore[6] = {"", "-", "-", "Tt ", ":", ":"};
  std::size_t known = 0;
  for (; known < 6; ++known) {
    if (known > 0 && !take_char(text, kBefore[known])) break;
    auto const number = take_digits(text, known == 0 ? 4 : 2);
    if (!number) return std::nullopt;
    parts[known] = *number;
  }
  auto const seconds = time_of(parts);
  if (!seconds) return std::nullopt;
  auto const fraction = take_char(text, ".,") ? take_fraction(text) : 0;
  auto const zone = take_zone(text);
  if (!zone) return std::nullopt;
  return *seconds + fraction - *zone;
}

std::optional<std::int64_t> parse_compact_time(std::string_view text) {
  unsigned parts[6] = {0, 1, 1, 0, 0, 0};
  for (std::size_t i = 0; i < 6 && !text.empty(); ++i) {
    auto const number = take_digits(text, i == 0 ? 4 : 2);
    if (!number) return std::nullopt;
    parts[i] = *number;
  }
  return time_of(parts);
}

}  // namespace reprise::importing
