#pragma once

// HTTP heads and URLs as other tools wrote them down: read with patience, since what matters is
// what was meant. Pure.

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

/// The first field called `name` (any case), or null.
const std::string* find_field(const Fields& fields, std::string_view name);
void remove_fields(Fields& fields, std::string_view name);

/// An absolute http or https URL (ws and wss mean the same) in the parts of a StoredRequest.
struct Url {
  Scheme scheme = Scheme::kHttp;
  std::string host;
  std::uint16_t port = 0;
  std::string target = "/";  ///< without fragment, fit for a request line
};
/// Nothing when it is another scheme's, or none.
std::optional<Url> parse_url(std::string_view text);
/// `target` with what no request line can hold percent-encoded.
std::string clean_target(std::string_view target);

/// What "HTTP/2.0", "h2", "http/1.1" and all the rest mean. SPDY and what is not known are
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

/// What an empty line at the end of a head may have of carriage returns (find_head_end()).
inline constexpr std::size_t kReturnsMax = 16;

/// A head in its parts. Folded lines are joined; a line without a colon is left out.
struct Head {
  std::string first_line;
  Fields fields;
};
Head parse_head(std::string_view text);
/// Field lines alone.
Fields parse_fields(std::string_view text);

/// Nanoseconds since 1970 of "2018-04-05T00:01:06.248Z" (RFC 3339, or WARC's without fraction, or
/// only its first parts); nothing when it is no such time.
std::optional<std::int64_t> parse_time(std::string_view text);
/// The same of "20180405000106", as ARC has it.
std::optional<std::int64_t> parse_compact_time(std::string_view text);

}  // namespace reprise::importing
