#pragma once

#include <ngtcp2/ngtcp2.h>

#include <chrono>

namespace reprise {

/// Times and durations as ngtcp2 counts them, in ns.
inline ngtcp2_tstamp quic_stamp(std::chrono::nanoseconds time) {
  return static_cast<ngtcp2_tstamp>(time.count());
}
inline ngtcp2_tstamp quic_stamp(std::chrono::steady_clock::time_point time) {
  return quic_stamp(std::chrono::nanoseconds(time.time_since_epoch()));
}

}  // namespace reprise
