#pragma once

// What a self-check sends, how long it waits, and what to expect of a link: functions of the link's
// settings, without time or sockets.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "shaper/packet/probe.h"
#include "shaper/profile.h"

namespace reprise {

/// The maximum time of a self-check.
inline constexpr std::chrono::milliseconds kSelfCheckMax{1900};
/// Small packets for the delay, sent one by one in each direction: how many, and their size.
inline constexpr std::uint32_t kPings = 4;
inline constexpr std::uint32_t kPingBytes = Probe::kPacketBytesMin;
/// A sender of datagrams cannot fill a link with a higher rate.
inline constexpr double kJudgedRateMaxBps = 1e9;

/// Packets for the rate, sent at once.
struct ProbeTrain {
  std::uint32_t packets = 0;
  std::uint32_t packet_bytes = 0;
};

/// What to send over both directions, and how long to wait for it.
struct SelfCheckPlan {
  /// Why the link cannot be checked within kSelfCheckMax; empty if it can.
  std::string skipped;
  ProbeTrain down;
  ProbeTrain up;
  /// From one ping to the next, so that none queues behind another.
  std::chrono::nanoseconds ping_gap{0};
  /// From then on, until all pings have come that will.
  std::chrono::nanoseconds pings_wait{0};
  /// From sending the trains until all their packets have come that will. A link that is not
  /// steady can pause at any time: kSelfCheckMax.
  std::chrono::nanoseconds trains_wait{0};
};

SelfCheckPlan plan_self_check(const LinkProfile& profile);

/// Whether results do not depend on the time of measurement: no trace and no outage.
bool is_steady(const LinkSettings& settings);

/// What one ping takes on the idle link, without jitter; nothing if the link is not steady. A burst
/// that may pass at once takes no time on the wire.
std::optional<double> expected_ping_ms(const LinkSettings& settings);

}  // namespace reprise
