#include "tests/shaper/reference_link.h"

#include <algorithm>

#include "shaper/trace.h"

namespace reprise {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

ReferenceLink::ReferenceLink(const LinkSettings& settings, std::uint64_t seed)
    : settings_(settings),
      loss_(settings.loss, seed, 0),
      jitter_(seed, 0, Purpose::jitter),
      wire_free_(settings.rate_bps == 0 ? 0 : -Exact{settings.burst_bytes} * 8'000'000'000) {}

ReferenceLink::Fate ReferenceLink::enqueue(std::uint32_t size_bytes, nanoseconds now) {
  auto const index = index_++;
  if (loss_.loses(index)) return {Admission::lost};
  if (is_off(now)) return {Admission::outage};
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  for (const Sent& before : sent_) {
    if (before.waits_until <= now) continue;
    ++packets;
    bytes += before.size_bytes;
  }
  auto const& limit = settings_.queue;
  bool const waits = last_leaves_ > now;
  if (waits && ((limit.packets > 0 && packets + 1 > limit.packets) ||
                (limit.bytes > 0 && bytes + size_bytes > limit.bytes))) {
    return {Admission::queue_full};
  }
  sent_.push_back({size_bytes, last_leaves_});
  if (settings_.trace) {
    last_leaves_ = leave_by_trace(size_bytes, now);
  } else {
    last_leaves_ = settings_.rate_bps == 0 ? now : leave_by_rate(size_bytes, now);
  }
  auto const span = static_cast<unsigned __int128>(settings_.jitter.count()) + 1;
  auto const jitter = static_cast<std::int64_t>((span * jitter_.bits(index)) >> 64);
  auto due = last_leaves_ + settings_.delay + nanoseconds(jitter);
  if (!settings_.reorder) due = last_due_ = std::max(due, last_due_);
  return {Admission::queued, last_leaves_, due};
}

nanoseconds ReferenceLink::leave_by_rate(std::uint32_t size_bytes, nanoseconds now) {
  Exact const rate = settings_.rate_bps;
  Exact const credit_ns = Exact{settings_.burst_bytes} * 8'000'000'000 / rate;
  Exact at = std::max(wire_free_, (now.count() - credit_ns) * rate);
  Exact work = Exact{size_bytes} * 8'000'000'000;
  // Walk from one outage to the next, however many there were.
  auto const& [off, repeat] = settings_.outages;
  for (std::int64_t round = 0; !off.empty() && work > 0; ++round) {
    if (round > 0 && repeat == nanoseconds(0)) break;
    for (const auto& interval : off) {
      Exact const from = (interval.from + round * repeat).count() * rate;
      Exact const to = (interval.to + round * repeat).count() * rate;
      if (to <= at) continue;
      Exact const before = std::max(Exact{0}, std::min(work, from - at));
      work -= before;
      at += before;
      if (work == 0) break;
      at = to;
    }
  }
  wire_free_ = at + work;
  Exact const up = wire_free_ >= 0 ? (wire_free_ + rate - 1) / rate : wire_free_ / rate;
  return std::max(now, nanoseconds(static_cast<std::int64_t>(up)));
}

nanoseconds ReferenceLink::leave_by_trace(std::uint32_t size_bytes, nanoseconds now) {
  auto const& times = settings_.trace->times_ms();
  auto const earliest = std::max(now, last_leaves_);
  for (std::uint64_t i = 0;; ++i) {
    auto const time = milliseconds(i / times.size() * times.back() + times[i % times.size()]);
    if (time < earliest) continue;
    auto& used = used_bytes_[i];
    auto const taken = std::min(size_bytes, kOpportunityBytes - used);
    used += taken;
    size_bytes -= taken;
    if (size_bytes == 0) return time;
  }
}

bool ReferenceLink::is_off(nanoseconds time) const {
  auto const& [off, repeat] = settings_.outages;
  if (repeat > nanoseconds(0)) time %= repeat;
  return std::ranges::any_of(off, [&](auto& i) { return i.from <= time && time < i.to; });
}

}  // namespace reprise
