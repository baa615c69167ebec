#include "shaper/settings.h"

#include <algorithm>
#include <tuple>

#include "shaper/trace.h"

namespace reprise {

using std::chrono::nanoseconds;

namespace {

/// PIE computes anew in each interval in which it has packets.
constexpr nanoseconds kPieIntervalMin = std::chrono::microseconds(100);

bool is_probability(double p) {
  return p >= 0 && p <= 1;
}

bool is_time(nanoseconds time) {
  return time >= nanoseconds(0) && time <= kDelayMax;
}

auto all_but_trace(const LinkSettings& settings) {
  auto const& [rate_bps, trace, delay, jitter, reorder, burst_bytes, queue, active_queue, loss,
               outages] = settings;
  return std::tie(rate_bps, delay, jitter, reorder, burst_bytes, queue, active_queue, loss,
                  outages);
}

std::optional<std::string> defect_of(const Outages& outages) {
  if (outages.off.size() > kOutagesMax) return "there are more than 1000 outages";
  nanoseconds last{0};
  nanoseconds off{0};
  for (const auto& interval : outages.off) {
    if (interval.from < last || interval.to <= interval.from) {
      return "outages must be in order, apart from each other, and end after they begin";
    }
    last = interval.to;
    off += interval.to - interval.from;
  }
  if (last > kOutageTimeMax || outages.repeat > kOutageTimeMax) {
    return "outages must lie within the first 365 days";
  }
  if (outages.repeat == nanoseconds(0)) return std::nullopt;
  if (outages.repeat < last) return "the outages repeat before the last one ends";
  if (outages.repeat == off) return "the link is never on";
  return std::nullopt;
}

}  // namespace

bool LinkSettings::operator==(const LinkSettings& other) const {
  bool const same_trace = trace == other.trace || (trace && other.trace && *trace == *other.trace);
  return same_trace && all_but_trace(*this) == all_but_trace(other);
}

std::uint64_t mean_rate_bps(const LinkSettings& settings) {
  if (!settings.trace) return settings.rate_bps;
  return std::max<std::uint64_t>(settings.trace->mean_rate_bps(), 1);
}

std::optional<std::string> defect_of(const LinkSettings& settings) {
  if (settings.rate_bps > kRateMaxBps) return "the rate is above 1 Tbit/s";
  if (settings.trace && settings.rate_bps != 0) return "a trace and a rate exclude each other";
  if (settings.trace && !settings.outages.off.empty()) {
    return "a trace and outages exclude each other: leave gaps in the trace";
  }
  if (!is_time(settings.delay)) return "the delay is not between 0 and 1 hour";
  if (!is_time(settings.jitter)) return "the jitter is not between 0 and 1 hour";
  if (settings.burst_bytes > kBurstBytesMax) return "the burst is above 1 GiB";
  if (settings.queue.packets > kQueuePacketsMax) return "the queue is longer than 1048576 packets";
  if (settings.queue.bytes > kQueueBytesMax) return "the queue is longer than 4 GiB";
  if (settings.queue.packets == 0 && settings.queue.bytes == 0) return "the queue has no limit";
  auto const& queue = settings.active_queue;
  if (!is_time(queue.target) || !is_time(queue.interval)) {
    return "target and interval of the queue are not between 0 and 1 hour";
  }
  if (queue.discipline == QueueDiscipline::pie && queue.interval > nanoseconds(0) &&
      queue.interval < kPieIntervalMin) {
    return "the interval of PIE is below 100us";
  }
  auto const& loss = settings.loss;
  if (!is_probability(loss.in_good) || !is_probability(loss.in_bad) ||
      !is_probability(loss.good_to_bad) || !is_probability(loss.bad_to_good)) {
    return "a loss is not between 0 and 100 %";
  }
  return defect_of(settings.outages);
}

}  // namespace reprise
