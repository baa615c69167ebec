#include "proxy/replay/broken_exchange.h"

#include <algorithm>

namespace reprise {

std::chrono::nanoseconds patience_of(const Exchange& exchange) {
  auto const& times = exchange.timings;
  if (exchange.outcome != Outcome::kCutByClient || times.queued == kNoTime ||
      times.end == kNoTime || times.end <= times.queued) {
    return {};
  }
  // Both can be any number: the difference must not overflow.
  if (times.queued < SessionTime::zero()) return kPatienceMax;
  return std::min<std::chrono::nanoseconds>(times.end - times.queued, kPatienceMax);
}

Task<void> break_off(std::chrono::steady_clock::time_point until, ResponseWriter& writer) {
  if (until > std::chrono::steady_clock::now()) {
    // The wait also ends if the client closes.
    if (auto const waited = co_await writer.pause_until(until); !waited) co_return waited;
  }
  co_return fail(std::make_error_code(std::errc::connection_aborted));
}

}  // namespace reprise
