#include "shaper/packet/self_check_plan.h"

#include <algorithm>

#include "shaper/packet/lateness.h"
#include "shaper/packet/network/topology.h"
#include "shaper/trace.h"

namespace reprise {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kPingGapMin = std::chrono::milliseconds(5);
/// The maximum time of a train on the wire.
constexpr double kTrainSeconds = 0.4;
constexpr std::uint32_t kTrainPacketsMin = 8;
constexpr std::uint32_t kTrainPacketsMax = 100;
/// A longer delay per direction does not fit into kSelfCheckMax twice.
constexpr nanoseconds kDelayMaxChecked = std::chrono::milliseconds(650);
/// Allowance for a busy machine.
constexpr nanoseconds kMargin = std::chrono::milliseconds(100);

/// How long a wire with a rate takes for `bytes`; 0 for any other.
nanoseconds wire_time(const LinkSettings& settings, std::uint64_t bytes) {
  if (settings.rate_bps == 0) return nanoseconds(0);
  auto const ns = static_cast<double>(bytes) * 8e9 / static_cast<double>(settings.rate_bps);
  return nanoseconds(static_cast<std::int64_t>(ns));
}

nanoseconds wire_time(const LinkSettings& settings, const ProbeTrain& train) {
  return wire_time(settings, std::uint64_t{train.packets} * train.packet_bytes);
}

/// As long as kTrainSeconds, kTrainPacketsMax and the queue allow.
ProbeTrain train_for(const LinkSettings& settings) {
  // Of a trace, the mean over its whole length, including its pauses.
  auto const mean = mean_rate_bps(settings);
  auto const rate = mean > 0 ? static_cast<double>(mean) : kJudgedRateMaxBps;
  auto const bytes = rate * kTrainSeconds / 8;
  // One packet must fit the queue, if the smallest does.
  auto const limit = settings.queue.bytes > 0 ? settings.queue.bytes : kLinkMtuBytes;
  auto const largest = std::clamp<double>(static_cast<double>(limit), kPingBytes, kLinkMtuBytes);
  auto const size =
      static_cast<std::uint32_t>(std::clamp<double>(bytes / kTrainPacketsMin, kPingBytes, largest));
  auto most = kTrainPacketsMax;
  if (settings.queue.packets > 0) most = std::min(most, settings.queue.packets);
  if (settings.queue.bytes > 0) {
    most = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, settings.queue.bytes / size));
  }
  // The packet on the wire does not count towards the queue. None may wait behind it if even this
  // size does not fit.
  auto const least = settings.queue.bytes > 0 && settings.queue.bytes < size ? 1U : 2U;
  auto const count = std::clamp<double>(bytes / size, least, std::max(least, most));
  return {.packets = static_cast<std::uint32_t>(count), .packet_bytes = size};
}

}  // namespace

SelfCheckPlan plan_self_check(const LinkProfile& profile) {
  auto const& down = profile.down;
  auto const& up = profile.up;
  SelfCheckPlan plan{.down = train_for(down), .up = train_for(up)};
  auto const longest = std::max(down.delay + down.jitter, up.delay + up.jitter);
  if (longest > kDelayMaxChecked) {
    plan.skipped = "the delay is too long for a self-check";
    return plan;
  }
  auto const ping = std::max(wire_time(down, kPingBytes), wire_time(up, kPingBytes));
  plan.ping_gap = std::max(kPingGapMin, 2 * ping);
  plan.pings_wait = longest + plan.ping_gap;
  auto const train = std::max(wire_time(down, plan.down), wire_time(up, plan.up));
  plan.trains_wait = train + longest + kMargin;
  if (kPings * plan.ping_gap + plan.pings_wait + plan.trains_wait > kSelfCheckMax) {
    plan.skipped = "the link is too slow for a self-check";
  }
  if (!is_steady(down) || !is_steady(up)) plan.trains_wait = kSelfCheckMax;
  return plan;
}

bool is_steady(const LinkSettings& settings) {
  return !settings.trace && settings.outages.off.empty();
}

std::optional<double> expected_ping_ms(const LinkSettings& settings) {
  if (!is_steady(settings)) return std::nullopt;
  auto const waiting = kPingBytes - std::min(kPingBytes, settings.burst_bytes);
  return to_ms(settings.delay + wire_time(settings, waiting));
}

}  // namespace reprise
