#pragma once

#include <chrono>
#include <cstdint>

#include "base/system/thread_priority.h"
#include "shaper/link.h"
#include "shaper/packet/lateness.h"
#include "shaper/packet/lateness_curve.h"

namespace reprise {

/// Packets that were lost by anything but the link. Any is a failure of the emulation.
struct OutsideDrops {
  std::uint64_t ring = 0;       ///< came faster than they were read
  std::uint64_t send = 0;       ///< refused by the kernel when written
  std::uint64_t memory = 0;     ///< more on the link than it may hold (kHeldBytesMax)
  std::uint64_t malformed = 0;  ///< could not be taken apart
  std::uint64_t devices = 0;    ///< counted by the veth devices

  std::uint64_t total() const { return ring + send + memory + malformed + devices; }
};

/// What a packet link did.
struct LinkReport {
  LinkCounters down;
  LinkCounters up;
  LatenessHistogram::Summary lateness;  ///< written - due, of every packet
  OutsideDrops outside;
  /// What their lateness can have cost any exchange at most (LatenessChain).
  std::chrono::nanoseconds lateness_cost{0};
  LatenessCurve lateness_curve;  ///< how that grew, by CLOCK_MONOTONIC
  /// From the first packet's arrival to the last one's end.
  std::chrono::nanoseconds span{0};
  Priority priority = Priority::kOrdinary;  ///< of the link's thread
  std::uint64_t times_lowered = 0;          ///< see ThreadPriority
  std::chrono::nanoseconds processor_time{0};
};

}  // namespace reprise
