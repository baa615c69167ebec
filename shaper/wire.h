#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "shaper/outages.h"
#include "shaper/settings.h"
#include "shaper/trace.h"

namespace reprise {

/// Puts packets on a wire one after the other: a rate, a trace or no limit, with outages during
/// which it stops. Exact: the remainder of every division is carried to the next packet, so the
/// rate has no drift, and only returned times are rounded up.
class Wire {
 public:
  Wire(const LinkSettings& settings, std::chrono::nanoseconds start);

  /// Sends a packet that arrived at `at`, as soon as the previous ones have left; returns when its
  /// last bit has left. Internally the wire knows fractions of a nanosecond: pass the arrival, not
  /// the time at which the packet leaves the queue.
  std::chrono::nanoseconds send(std::uint32_t size_bytes, std::chrono::nanoseconds at);

  /// Changes the wire from `at` on. If a packet is being sent (it was sent last and leaves after
  /// `at`), its rest continues; a packet that a trace was delivering restarts. Returns when that
  /// packet leaves now; without one, `at`.
  std::chrono::nanoseconds change(const LinkSettings& settings, std::chrono::nanoseconds at,
                                  bool sending);

  bool is_off(std::chrono::nanoseconds at) const {
    return !outages_.always_on() && outages_.at(at).off;
  }

 private:
  /// A bit is 10^9 units of work, and a nanosecond does rate_bps of them.
  using Work = unsigned __int128;

  /// Does work from free_ on; returns when it is done.
  std::chrono::nanoseconds serve(Work work);
  Work work_left(std::chrono::nanoseconds at) const;

  std::uint64_t rate_bps_;
  std::shared_ptr<const Trace> trace_;
  OutageClock outages_;
  std::optional<TraceCursor> cursor_;
  std::chrono::nanoseconds burst_time_{0};  // idle time that counts as sending time
  std::chrono::nanoseconds start_;
  std::uint32_t last_bytes_ = 0;
  std::chrono::nanoseconds leaves_{0};  // for a trace: when the last packet leaves

  // The wire is free from free_ + remainder_ / rate_bps_ nanoseconds on.
  std::chrono::nanoseconds free_;
  std::uint64_t remainder_ = 0;
};

}  // namespace reprise
