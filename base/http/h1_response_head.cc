// Heads of responses (RFC 9112 sections 4 and 6.3), parsed strictly or as browsers do.

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/http/h1_parser.h"
#include "base/http/h1_syntax.h"
#include "base/text/ascii.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

Result<ResponseHead> parse_status_line_strictly(std::string_view line) {
  if (!line.starts_with("HTTP/")) return fail(h1_errc::not_http);
  auto const space = std::min(line.find(' '), line.size());
  auto const version = parse_version(line.substr(0, space));
  if (!version) return fail(h1_errc::unsupported_version);
  ResponseHead head{.version = *version};
  line.remove_prefix(std::min(space + 1, line.size()));
  auto const digits = line.substr(0, 3);
  auto const [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), head.status);
  if (error != std::errc() || end != digits.data() + 3 || head.status < 100 ||
      (line.size() > 3 && line[3] != ' ')) {
    return fail(h1_errc::not_http);
  }
  head.reason = line.substr(std::min<std::size_t>(4, line.size()));
  if (one_line(head.reason).size() != head.reason.size()) return fail(h1_errc::not_http);
  return head;
}

/// 1.1 for 1.1 and all later versions, 1.0 for any other text.
HttpVersion version_as_browsers(std::string_view line) {
  auto const dot = line.find('.');
  if (line.size() < 6 || line[4] != '/' || dot >= line.size() - 1) return HttpVersion::kHttp10;
  auto const major = line[5];
  auto const minor = line[dot + 1];
  bool const later =
      is_digit(major) && is_digit(minor) && (major > '1' || (major == '1' && minor > '0'));
  return later ? HttpVersion::kHttp11 : HttpVersion::kHttp10;
}

/// `line` starts with "HTTP" in any case. A missing status is 200.
Result<ResponseHead> parse_status_line_as_browsers(std::string_view line) {
  ResponseHead head{.version = version_as_browsers(line), .status = 200, .reason = "OK"};
  auto const space = line.find(' ');
  if (space == std::string_view::npos) return head;
  head.reason = {};
  line.remove_prefix(space);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  auto const digits = line.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(line, is_digit) - line.begin()));
  if (digits.empty()) return head;
  auto const [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), head.status);
  if (error != std::errc() || head.status == 0) return fail(h1_errc::not_http);
  line.remove_prefix(digits.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  while (line.ends_with(' ')) line.remove_suffix(1);
  head.reason = line;
  return head;
}

Result<ResponseHead> parse_as_browsers(std::span<char> head, std::vector<HeaderView>& fields) {
  auto const text = text_of(head);
  // C programs may read this in two ways.
  if (text.find('\0') != std::string_view::npos) return fail(h1_errc::bad_header);
  auto const start = find_status_line(text);
  if (!start) return fail(h1_errc::not_http);
  auto const end = std::min(text.find_first_of("\r\n", *start), text.size());
  auto parsed = parse_status_line_as_browsers(text.substr(*start, end - *start));
  if (!parsed) return parsed;
  if (auto const rest = parse_fields_as_browsers(head.subspan(end), fields); !rest) {
    return fail(rest.error());
  }
  parsed->headers = fields;
  return parsed;
}

/// The length announced by the fields, whether or not there is a body.
Result<BodyFraming> announced_strictly(const ResponseHead& head) {
  std::optional<std::uint64_t> length;
  std::optional<std::string_view> codings;
  for (const HeaderView& field : head.headers) {
    if (equals_ignoring_case(field.name, "Content-Length")) {
      auto const value = parse_length(field.value);
      if (length || !value) return fail(h1_errc::bad_framing);
      length = value;
    } else if (equals_ignoring_case(field.name, "Transfer-Encoding")) {
      if (codings || !ends_chunked(field.value)) return fail(h1_errc::bad_framing);
      codings = field.value;
    }
  }
  if (codings && (length || head.version == HttpVersion::kHttp10)) {
    return fail(h1_errc::bad_framing);
  }
  if (codings) return BodyFraming{.kind = BodyFraming::Kind::kChunked};
  if (!length) return BodyFraming{.kind = BodyFraming::Kind::kUntilClose};
  return BodyFraming{.kind = BodyFraming::Kind::kLength, .length_bytes = *length};
}

Result<BodyFraming> announced_as_browsers(const ResponseHead& head) {
  if (head.version != HttpVersion::kHttp10 &&
      header_has_token(head.headers, "Transfer-Encoding", "chunked")) {
    return BodyFraming{.kind = BodyFraming::Kind::kChunked};
  }
  // Responses are smuggled by two lengths; an invalid length counts as none.
  std::optional<std::string_view> only;
  for (const HeaderView& field : head.headers) {
    if (!equals_ignoring_case(field.name, "Content-Length")) continue;
    for (std::string_view rest = field.value;;) {
      auto const comma = rest.find(',');
      auto const element = trim_blanks(rest.substr(0, comma));
      if (only && *only != element) return fail(h1_errc::bad_framing);
      only = element;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  auto const length = only ? parse_length(*only) : std::nullopt;
  if (!length) return BodyFraming{.kind = BodyFraming::Kind::kUntilClose};
  return BodyFraming{.kind = BodyFraming::Kind::kLength, .length_bytes = *length};
}

}  // namespace

std::optional<std::size_t> find_status_line(std::string_view text) {
  constexpr std::size_t kJunkBytesMax = 4;
  for (std::size_t at = 0; at <= kJunkBytesMax && at + 4 <= text.size(); ++at) {
    if (equals_ignoring_case(text.substr(at, 4), "HTTP")) return at;
  }
  return std::nullopt;
}

Result<ResponseHead> parse_response_head(std::span<char> head, std::vector<HeaderView>& fields,
                                         Tolerance tolerance) {
  fields.clear();
  if (tolerance == Tolerance::kAsBrowsers) return parse_as_browsers(head, fields);
  auto rest = text_of(head);
  auto parsed = parse_status_line_strictly(take_line(rest));
  if (!parsed) return parsed;
  if (auto const read = parse_fields_strictly(rest, fields); !read) return fail(read.error());
  parsed->headers = fields;
  return parsed;
}

Result<BodyFraming> announced_framing(const ResponseHead& head, Tolerance tolerance) {
  return tolerance == Tolerance::kStrict ? announced_strictly(head) : announced_as_browsers(head);
}

Result<BodyFraming> response_framing(std::string_view request_method, const ResponseHead& head,
                                     Tolerance tolerance) {
  auto const announced = announced_framing(head, tolerance);
  if (announced && !may_have_body(request_method, head.status)) return BodyFraming{};
  return announced;
}

}  // namespace reprise
