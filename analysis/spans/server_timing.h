#pragma once

// The header field Server-Timing (W3C Server Timing, section 3): durations without start times.
// Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/headers.h"

namespace reprise {

/// One metric of a response.
struct ServerTiming {
  static constexpr std::size_t kMetricsMax = 1000;
  static constexpr std::int64_t kDurationUsMax = 86'400'000'000;

  std::string name;
  std::string description;
  std::optional<std::int64_t> duration_us;  ///< at most a day
};

/// Reads the untrusted fields of a response's head and trailers as browsers do: what does not fit
/// the grammar is skipped, of equal parameters the first counts. Metrics beyond kMetricsMax are
/// skipped.
std::vector<ServerTiming> read_server_timing(HeaderList head, HeaderList trailers = {});

}  // namespace reprise
