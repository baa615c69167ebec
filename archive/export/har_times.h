#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "archive/exchange.h"

namespace reprise::exporting {

/// The phases in HAR's `timings`. Nothing: unknown, or did not happen for this exchange.
struct HarTimes {
  static constexpr std::array<std::string_view, 7> kNames = {"blocked", "dns",  "connect", "ssl",
                                                             "send",    "wait", "receive"};
  enum Phase : std::size_t { kBlocked, kDns, kConnect, kSsl, kSend, kWait, kReceive };

  std::array<std::optional<std::int64_t>, 7> spans;  ///< ns

  /// The sum; `ssl` is part of `connect`.
  std::int64_t total() const;
};

/// `facts`: the connection, null if unknown. It counts for an exchange only if it was made for it:
/// between the request's arrival and its sending.
HarTimes har_times(const Exchange& exchange, const ConnectionFacts* facts);

/// "12.345678": milliseconds, exact to the nanosecond.
std::string milliseconds_text(std::int64_t ns);

}  // namespace reprise::exporting
