#include "shaper/stream/tcp_sender.h"

#include <algorithm>
#include <cmath>

#include "shaper/stream/segment.h"

namespace reprise {

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t kDuplicateThreshold = 3;
constexpr TcpSender::Time kTimeoutMax = 120s;
constexpr TcpSender::Time kLoneProbeDelay = 200ms;  // the peer may delay its acknowledgement
constexpr int kBackoffsMax = 16;

}  // namespace

void TcpSender::write(std::uint64_t bytes, Time now) {
  if (segments_.empty() && next_ > 0) cubic_.on_idle(now - last_sent_, rtt_.timeout());
  written_ += bytes;
}

std::uint32_t TcpSender::in_flight() const {
  return static_cast<std::uint32_t>(segments_.size()) - sacked_ - lost_;
}

std::optional<SequenceRange> TcpSender::next(Time now) {
  bool const room = in_flight() + 1 <= cubic_.window();
  if (lost_ > 0) {
    note_use(true);
    if (!room) return std::nullopt;
    auto const segment = std::ranges::find(segments_, true, &Segment::lost);
    segment->lost = false;
    segment->resent = true;
    --lost_;
    ++retransmissions_;
    send(*segment, now);
    return segment->bytes;
  }
  bool const more = written_ > next_;
  if (more && !room && !probe_now_) note_use(true);
  if (!more && probe_now_ && !segments_.empty()) {
    probe_now_ = false;
    ++retransmissions_;
    segments_.back().resent = true;
    send(segments_.back(), now);
    return segments_.back().bytes;
  }
  if (!more || (!room && !probe_now_)) return std::nullopt;
  probe_now_ = false;
  auto const end = std::min(written_, next_ + kSegmentBytes);
  segments_.push_back({.bytes = {next_, end}});
  next_ = end;
  send(segments_.back(), now);
  return segments_.back().bytes;
}

void TcpSender::send(Segment& segment, Time now) {
  segment.sent = now;
  segment.order = ++orders_;
  last_sent_ = now;
  note_use(in_flight() >= cubic_.window());
  if (recovery_end_ && !timed_out_) ++recovery_sent_;
  // A new segment restarts only a probe's timer; the timeout counts from the first segment.
  if (!timer_ || timer_kind_ == Timer::probe) arm(now);
}

void TcpSender::on_ack(const Acknowledgement& ack, Time now) {
  auto const before = acknowledged_;
  News const news = take(ack, now);
  if (news.rtt) rtt_.sample(*news.rtt);
  if (acknowledged_ > before) {
    timeouts_ = 0;
  }
  if (probe_end_ && acknowledged_ >= *probe_end_) probe_end_.reset();
  if (recovery_end_ && acknowledged_ >= *recovery_end_) {
    if (!timed_out_) cubic_.set_window(cubic_.threshold());
    recovery_end_.reset();
    timed_out_ = false;
  }
  bool const lost = news.delivered > 0 && find_losses(now);
  if (recovery_end_ && !timed_out_) {
    set_recovery_window(news.delivered, acknowledged_ > before && !lost);
  } else if (news.acknowledged > 0) {
    grow(news, now);
  }
  if (news.delivered > 0) arm(now);
}

void TcpSender::deliver(const Segment& segment, News& news, Time now) {
  ++news.delivered;
  // The acknowledgement of a resent segment may belong to either transmission (Karn).
  if (!segment.resent) news.rtt = now - segment.sent;
  bool const plausible = !segment.resent || now - segment.sent >= rtt_.least().value_or(0ns);
  if (segment.order > rack_order_ && plausible) {
    rack_order_ = segment.order;
    rack_rtt_ = now - segment.sent;
  }
}

TcpSender::News TcpSender::take(const Acknowledgement& ack, Time now) {
  News news;
  bool covers_resent = false;
  while (!segments_.empty() && segments_.front().bytes.end <= ack.upto) {
    Segment const& segment = segments_.front();
    ++news.acknowledged;
    covers_resent = covers_resent || segment.resent;
    if (segment.sacked) {
      --sacked_;
    } else {
      if (segment.lost) --lost_;
      deliver(segment, news, now);
    }
    acknowledged_ = segment.bytes.end;
    segments_.pop_front();
  }
  // The others may have arrived long before what was resent filled the gap, or when
  // acknowledgements were lost: Linux takes no round trip from them either.
  if (covers_resent) news.rtt.reset();
  for (std::uint32_t i = 0; i < ack.sack_count; ++i) {
    auto const& range = ack.sacks[i];
    auto segment = std::ranges::lower_bound(segments_, range.begin, {},
                                            [](const Segment& s) { return s.bytes.begin; });
    for (; segment != segments_.end() && segment->bytes.end <= range.end; ++segment) {
      if (segment->sacked) continue;
      if (segment->lost) --lost_;
      segment->lost = false;
      segment->sacked = true;
      ++sacked_;
      deliver(*segment, news, now);
    }
  }
  return news;
}

/// Returns whether there were any.
bool TcpSender::find_losses(Time now) {
  reordering_due_.reset();
  if (sacked_ == 0 && !recovery_end_) return false;
  bool const sure = sacked_ >= kDuplicateThreshold || recovery_end_;
  auto const window = sure ? Time(0) : rtt_.least().value_or(0ns) / 4;
  bool found = false;
  for (Segment& segment : segments_) {
    if (segment.sacked || segment.lost || segment.order > rack_order_) continue;
    auto const due = segment.sent + rack_rtt_ + window;
    if (due <= now) {
      lose(segment);
      found = true;
    } else {
      reordering_due_ = std::max(reordering_due_.value_or(due), due);
    }
  }
  if (found && !recovery_end_) begin_recovery();
  return found;
}

void TcpSender::lose(Segment& segment) {
  segment.lost = true;
  ++lost_;
}

void TcpSender::begin_recovery() {
  recovery_end_ = next_;
  recovery_flight_ = static_cast<std::uint32_t>(segments_.size());
  recovery_delivered_ = 0;
  recovery_sent_ = 0;
  cubic_.on_loss();
  probe_end_.reset();
}

/// `safe`: the acknowledgement advanced and reported no more losses (RFC 6937, as SSRB).
void TcpSender::set_recovery_window(std::uint32_t delivered, bool safe) {
  recovery_delivered_ += delivered;
  double const goal = cubic_.threshold();
  double const flight = in_flight();
  double may_send = 0;
  if (flight > goal) {
    may_send = std::ceil(recovery_delivered_ * goal / recovery_flight_) - recovery_sent_;
  } else {
    double const made_up =
        std::max(static_cast<double>(recovery_delivered_) - recovery_sent_, 1.0 * delivered);
    may_send = std::min(goal - flight, made_up + (safe ? 1 : 0));
  }
  // The first retransmission is always permitted.
  cubic_.set_window(flight + std::max(may_send, recovery_sent_ == 0 ? 1.0 : 0.0));
}

void TcpSender::grow(const News& news, Time now) {
  bool const used = cubic_.in_slow_start() && cubic_.window() < 2.0 * static_cast<double>(use_max_);
  if (used || window_limited_) {
    // Packets reported earlier by SACK have been counted, or came when the window could not grow.
    cubic_.on_ack(news.delivered, news.rtt, acknowledged_, next_, now);
  }
}

void TcpSender::note_use(bool full) {
  bool const more = !window_limited_ && segments_.size() > use_max_;
  if (acknowledged_ < use_end_ && !full && !more) return;
  window_limited_ = full;
  use_max_ = segments_.size();
  use_end_ = next_;
}

void TcpSender::arm(Time now) {
  timer_.reset();
  if (segments_.empty()) return;
  if (reordering_due_) {
    timer_ = *reordering_due_;
    timer_kind_ = Timer::reordering;
    return;
  }
  auto timeout = std::min(rtt_.timeout(), kTimeoutMax);
  for (int i = 0; i < timeouts_; ++i) timeout = std::min(2 * timeout, kTimeoutMax);
  timer_ = now + timeout;
  timer_kind_ = Timer::retransmission;
  if (recovery_end_ || probe_end_ || sacked_ > 0 || !rtt_.smoothed()) return;
  // Instead of the timeout, if that would be earlier.
  auto const probe_due =
      now + 2 * *rtt_.smoothed() + (segments_.size() == 1 ? kLoneProbeDelay : Time(0));
  timer_ = std::min(*timer_, probe_due);
  timer_kind_ = Timer::probe;
}

void TcpSender::on_timer(Time now) {
  auto const kind = timer_kind_;
  timer_.reset();
  if (segments_.empty()) return;
  switch (kind) {
    case Timer::reordering:
      static_cast<void>(find_losses(now));
      if (recovery_end_ && !timed_out_) set_recovery_window(0, false);
      arm(now);
      return;
    case Timer::probe:
      probe_now_ = true;
      probe_end_ = next_;
      arm(now);
      return;
    case Timer::retransmission:
      time_out(now);
  }
}

void TcpSender::time_out(Time now) {
  timeouts_ = std::min(timeouts_ + 1, kBackoffsMax);
  if (!timed_out_) cubic_.on_timeout();
  cubic_.set_window(1);
  timed_out_ = true;
  recovery_end_ = next_;
  probe_end_.reset();
  probe_now_ = false;
  for (Segment& segment : segments_) {
    if (!segment.sacked && !segment.lost) lose(segment);
  }
  arm(now);
}

}  // namespace reprise
