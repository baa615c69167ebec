#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace reprise {

/// A date of HTTP in any of its three forms (RFC 9110 section 5.6.7): "Sun, 06 Nov 1994 08:49:37
/// GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994". The weekday is ignored;
/// a year of two digits is from 1970 to 2069. Returns nothing for any other text.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text);

}  // namespace reprise
