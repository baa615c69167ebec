#include "shaper/wire.h"

#include <algorithm>

namespace reprise {

using std::chrono::nanoseconds;

namespace {

constexpr std::uint64_t kWorkPerByte = 8ULL * 1'000'000'000;

nanoseconds burst_time(const LinkSettings& settings) {
  if (settings.rate_bps == 0) return nanoseconds(0);
  return nanoseconds(settings.burst_bytes * kWorkPerByte / settings.rate_bps);
}

}  // namespace

Wire::Wire(const LinkSettings& settings, nanoseconds start)
    : rate_bps_(settings.rate_bps),
      trace_(settings.trace),
      outages_(settings.outages, start),
      burst_time_(burst_time(settings)),
      start_(start),
      free_(start - burst_time_) {
  if (trace_) cursor_.emplace(trace_, start);
}

nanoseconds Wire::send(std::uint32_t size_bytes, nanoseconds at) {
  last_bytes_ = size_bytes;
  if (cursor_) return leaves_ = cursor_->take(size_bytes, at);
  if (rate_bps_ == 0) return free_ = std::max(free_, at);
  auto const earliest = at - burst_time_;
  if (free_ < earliest) {
    free_ = earliest;
    remainder_ = 0;
  }
  return std::max(at, serve(size_bytes * kWorkPerByte));
}

nanoseconds Wire::change(const LinkSettings& settings, nanoseconds at, bool sending) {
  if (trace_ && trace_ == settings.trace) return sending ? leaves_ : at;
  auto const left = sending ? work_left(at) : Work{0};
  rate_bps_ = settings.rate_bps;
  outages_ = OutageClock(settings.outages, start_);
  burst_time_ = burst_time(settings);
  free_ = sending ? at : std::min(free_, at);
  remainder_ = 0;
  trace_ = settings.trace;
  cursor_.reset();
  if (trace_) cursor_.emplace(trace_, start_);
  if (!sending || (!cursor_ && rate_bps_ == 0)) return at;
  if (!cursor_) return serve(left);
  auto const bytes = static_cast<std::uint64_t>((left + kWorkPerByte - 1) / kWorkPerByte);
  return leaves_ = cursor_->take(bytes, at);
}

nanoseconds Wire::serve(Work work) {
  work += remainder_;
  while (!outages_.always_on()) {
    auto const state = outages_.at(free_);
    if (!state.off) {
      auto const possible = static_cast<Work>((state.until - free_).count()) * rate_bps_;
      if (work <= possible) break;
      work -= possible;
    }
    free_ = state.until;
    auto const per_period = static_cast<Work>(outages_.on_per_period().count()) * rate_bps_;
    if (per_period == 0 || work <= per_period) continue;
    auto const periods = (work - 1) / per_period;
    work -= periods * per_period;
    free_ += static_cast<std::int64_t>(periods) * outages_.period();
  }
  if (work <= UINT64_MAX) [[likely]] {  // the short division is several times quicker
    auto const small = static_cast<std::uint64_t>(work);
    free_ += nanoseconds(small / rate_bps_);
    remainder_ = small % rate_bps_;
  } else {
    free_ += nanoseconds(static_cast<std::int64_t>(work / rate_bps_));
    remainder_ = static_cast<std::uint64_t>(work % rate_bps_);
  }
  return remainder_ == 0 ? free_ : free_ + nanoseconds(1);
}

Wire::Work Wire::work_left(nanoseconds at) const {
  if (cursor_) return static_cast<Work>(last_bytes_) * kWorkPerByte;
  return static_cast<Work>(outages_.on_time(at, free_).count()) * rate_bps_ + remainder_;
}

}  // namespace reprise
