#pragma once

// HTTP heads and URLs as other tools wrote them: parsed leniently, since the meaning matters. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"

namespace reprise::importing {

struct Field {
  std::string name;
  std::string value;
};
using Fields = std::vector<Field>;

/// The most fields of one head that are read.
inline constexpr std::size_t kFieldsMax = 65'536;

/// The first field with this name (any case), or null.
const std::string* find_field(const Fields& fields, std::string_view name);
void remove_fields(Fields& fields, std::string_view name);
/// Whether a message with these fields has content: a Content-Length above 0.
bool announces_content(const Fields& fields);

/// An absolute http or https URL (ws and wss mean the same), in the parts of a StoredRequest.
struct Url {
  Scheme scheme = Scheme::kHttp;
  std::string host;
  std::uint16_t port = 0;
  std::string target = "/";  ///< without fragment, valid in a request line
};
/// Nothing for another scheme, or an invalid URL.
std::optional<Url> parse_url(std::string_view text);
/// `target`, with characters that are invalid in a request line percent-encoded.
std::string clean_target(std::string_view target);

/// The version meant by "HTTP/2.0", "h2", "http/1.1" and other forms. SPDY and unknown ones are
/// kUnknown.
HttpVersion parse_version(std::string_view text);

struct RequestLine {
  std::string method;
  std::string target;
  HttpVersion version = HttpVersion::kUnknown;
};
struct StatusLine {
  HttpVersion version = HttpVersion::kUnknown;
  std::uint16_t status = 0;
  std::string reason;
};
std::optional<RequestLine> parse_request_line(std::string_view line);
std::optional<StatusLine> parse_status_line(std::string_view line);

/// The limit of carriage returns in an empty line at the end of a head (find_head_end()).
inline constexpr std::size_t kReturnsMax = 16;

/// A head in its parts. Folded lines are joined; lines without a colon are dropped.
struct Head {
  std::string first_line;
  Fields fields;
  bool is_cut = false;  ///< it has more than kFieldsMax fields; only the first ones are here
};
Head parse_head(std::string_view text);
/// Parses field lines alone, at most kFieldsMax of them.
Fields parse_fields(std::string_view text);

/// Nanoseconds since 1970 for "2018-04-05T00:01:06.248Z" (RFC 3339, or WARC's form without
/// fraction, or only its first parts); nothing if invalid.
std::optional<std::int64_t> parse_time(std::string_view text);
/// The same for "20180405000106", the form of ARC.
std::optional<std::int64_t> parse_compact_time(std::string_view text);

}  // namespace reprise::importing
