#pragma once

// The parts for parsing heads of both kinds and trailers (RFC 9112 section 5, RFC 9110 section
// 5.6.2). Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/http/message.h"
#include "base/result.h"

namespace reprise {

bool is_token(std::string_view text);

/// Takes the next line from `rest`, without its end (a line feed, possibly after a carriage
/// return).
std::string_view take_line(std::string_view& rest);

/// HTTP/1.1 or HTTP/1.0, in this spelling.
std::optional<HttpVersion> parse_version(std::string_view text);

/// The value of a Content-Length: digits only, at most 2^63 - 1.
std::optional<std::uint64_t> parse_length(std::string_view text);

/// Whether a Transfer-Encoding contains chunked once, at the end (RFC 9112 section 6.1).
bool ends_chunked(std::string_view codings);

/// The part of a reason or a value that HTTP/1.1 can carry: up to a line end or NUL.
std::string_view one_line(std::string_view text);

/// Whether HTTP/1.1 can carry the field: its name is a token, its value one line without NUL.
bool is_sendable(const HeaderView& field);

/// Appends the fields up to the empty line, by the grammar. Errors: bad_header, head_too_long.
Result<void> parse_fields_strictly(std::string_view rest, std::vector<HeaderView>& fields);

/// Appends the fields of an origin as Chromium sees them: a carriage return ends a line, folded
/// lines are joined in place, and lines that are not fields are skipped. Names that are not tokens
/// are accepted. Errors: head_too_long.
Result<void> parse_fields_as_browsers(std::span<char> rest, std::vector<HeaderView>& fields);

}  // namespace reprise
