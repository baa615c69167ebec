#include "archive/match/parameters.h"

#include <algorithm>
#include <optional>

#include "archive/match/json.h"
#include "base/http/media_type.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The value of a parameter such as `boundary` in a field's value, without quotes.
std::optional<std::string_view> field_parameter(std::string_view field, std::string_view name) {
  for (auto at = field.find(';'); at != std::string_view::npos; at = field.find(';', at)) {
    ++at;
    auto const part = trim_blanks(field.substr(at, field.find(';', at) - at));
    auto const equals = part.find('=');
    if (equals == std::string_view::npos ||
        !equals_ignoring_case(trim_blanks(part.substr(0, equals)), name)) {
      continue;
    }
    auto value = trim_blanks(part.substr(equals + 1));
    if (value.starts_with('"')) {
      value.remove_prefix(1);
      value = value.substr(0, value.find('"'));
    }
    return value;
  }
  return std::nullopt;
}

/// The Content-Disposition of a part of a multipart body; `head` are its header lines.
std::string_view disposition_of(std::string_view head) {
  constexpr std::string_view kName = "content-disposition:";
  while (!head.empty()) {
    auto const end = std::min(head.find("\r\n"), head.size());
    auto const line = head.substr(0, end);
    if (line.size() > kName.size() && equals_ignoring_case(line.substr(0, kName.size()), kName)) {
      return line.substr(kName.size());
    }
    head.remove_prefix(std::min(end + 2, head.size()));
  }
  return {};
}

}  // namespace

std::string decoded(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const c = text[at];
    int const high = c == '%' && at + 2 < text.size() ? hex_digit(text[at + 1]) : -1;
    int const low = high >= 0 ? hex_digit(text[at + 2]) : -1;
    if (low >= 0) {
      plain += static_cast<char>(high * 16 + low);
      at += 2;
    } else {
      plain += c == '+' ? ' ' : c;
    }
  }
  return plain;
}

std::string_view query_of(std::string_view target) {
  auto const mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

void Parameters::add_query(std::string_view query, bool in_body) {
  while (!query.empty() && !is_full()) {
    auto const end = std::min(query.find('&'), query.size());
    auto const pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    auto const equals = std::min(pair.find('='), pair.size());
    list_.push_back({.in_body = in_body,
                     .percent_encoded = true,
                     .name = pair.substr(0, equals),
                     .value = pair.substr(std::min(equals + 1, pair.size()))});
  }
}

bool Parameters::add_body(HeaderList headers, Bytes body) {
  if (body.empty() || body.size() > kNormalisedBodyBytesMax) return false;
  if (auto const coding = find_header(headers, "Content-Encoding");
      coding && !equals_ignoring_case(*coding, "identity")) {
    return false;
  }
  std::string_view const text(reinterpret_cast<const char*>(body.data()), body.size());
  auto const type = find_header(headers, "Content-Type").value_or(std::string_view());
  if (equals_ignoring_case(media_type_of(type), "application/x-www-form-urlencoded")) {
    add_query(text, true);
    return true;
  }
  if (equals_ignoring_case(media_type_of(type), "multipart/form-data")) {
    auto const boundary = field_parameter(type, "boundary");
    return boundary && add_multipart(*boundary, text);
  }
  return add_json(text);
}

bool Parameters::add_json(std::string_view text) {
  auto const count = list_.size();
  // A long name around many leaves would be in each of their paths.
  std::size_t path_bytes = 0;
  auto const whole = walk_json(
      text, kJsonDepthMax, [this, &path_bytes](const std::string& path, std::string_view value) {
        path_bytes += path.size();
        if (path_bytes > kJsonPathBytesMax) return false;
        // All items of an array have the same path.
        auto const known = !names_.empty() && names_.back() == path;
        auto const& name = known ? names_.back() : names_.emplace_back(path);
        list_.push_back({.in_body = true, .name = name, .value = value});
        return !is_full();
      });
  if (whole && path_bytes <= kJsonPathBytesMax) return true;
  list_.resize(count);
  return false;
}

bool Parameters::add_multipart(std::string_view boundary, std::string_view text) {
  auto const count = list_.size();
  auto const delimiter = "\r\n--" + std::string(boundary);
  // The first one is at the start of a line, or of the body.
  if (!text.starts_with(std::string_view(delimiter).substr(2))) return false;
  text.remove_prefix(delimiter.size() - 2);
  while (!text.starts_with("--")) {
    auto const line = text.find("\r\n");
    auto const end = text.find(delimiter, std::min(line, text.size()));
    auto const blank = text.find("\r\n\r\n", std::min(line, text.size()));
    if (end == std::string_view::npos || blank >= end) {
      list_.resize(count);
      return false;
    }
    auto const disposition = disposition_of(text.substr(line + 2, blank - line));
    auto const content = text.substr(blank + 4, end - std::min(end, blank + 4));
    auto const name = field_parameter(disposition, "name").value_or(std::string_view());
    if (!is_full()) list_.push_back({.in_body = true, .name = name, .value = content});
    text.remove_prefix(end + delimiter.size());
  }
  return true;
}

}  // namespace reprise
