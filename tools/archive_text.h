#pragma once

// Recorded text on its way to people and to JSON. It was written by strangers.

#include <string>
#include <string_view>

#include "archive/exchange.h"

namespace reprise {

/// For a terminal: UTF-8 stays as it is; control characters (escape sequences begin with one),
/// characters that turn the direction of writing, and bytes that are not UTF-8 become \xNN.
std::string printable(std::string_view text);

/// For JSON, which is UTF-8: bytes that are not become U+FFFD.
std::string as_utf8(std::string_view text);

/// "12.345 ms", or "-" when not known.
std::string milliseconds(SessionTime time);

std::string hex(const Sha256& digest);

/// "A", "AAAA", "HTTPS", or "TYPE16" of what has no name here.
std::string dns_type_name(std::uint16_t type);

/// "2026-11-21T02:03:04Z".
std::string utc_time(std::chrono::system_clock::time_point time);

/// `text` with spaces before or after it up to `width` bytes.
std::string align_left(std::string text, std::size_t width);
std::string align_right(std::string text, std::size_t width);

}  // namespace reprise
