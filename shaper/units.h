#pragma once

// Numbers with units, as in link texts (LINKS.md). Exact: a value that is not a whole number of the
// smallest unit is invalid. Errors are clauses with the fault and the valid form.

#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace reprise {

/// `9mbit`, `1638.4` (kbit/s), `none` (unlimited); in bit/s, 1000-based.
std::expected<std::uint64_t, std::string> parse_rate(std::string_view text);

/// `170` (ms), `170ms`, `1.5s`, `20us`, `5ns`; at most `most`.
std::expected<std::chrono::nanoseconds, std::string> parse_time(std::string_view text,
                                                                std::chrono::nanoseconds most);

/// `1%`, `0.25%`, `0`; as a fraction, 0 to 1.
std::expected<double, std::string> parse_share(std::string_view text);

/// A queue's limit: `100p` (packets), `64kb`, `64kib`, `1500b`, `50ms`.
struct Amount {
  enum class Kind : std::uint8_t { packets, bytes, time_ns } kind;
  std::uint64_t value;
};
std::expected<Amount, std::string> parse_amount(std::string_view text);

/// The shortest text that parse_rate and parse_time read as the same value: `9mbit`, `none`,
/// `85ms`.
std::string rate_text(std::uint64_t rate_bps);
std::string time_text(std::chrono::nanoseconds time);

}  // namespace reprise
