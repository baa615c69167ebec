#pragma once

// The header field that joins a request to what servers record about it (W3C Trace Context,
// section 3.2). Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reprise {

struct TraceParent {
  static constexpr std::string_view kField = "traceparent";

  std::string trace_id;  ///< 32 lower-case hexadecimal digits, not all 0
  std::string span_id;   ///< 16 of them: the caller's
  bool sampled = false;
};

/// Reads an untrusted value of any version. Returns nothing for any other text.
std::optional<TraceParent> parse_traceparent(std::string_view value);

/// The value of version 00, sampled. Neither the trace id as a whole nor the span may be 0.
std::string traceparent(std::uint64_t trace_high, std::uint64_t trace_low, std::uint64_t span);

}  // namespace reprise
