#include "shaper/packet/link_series.h"

#include <algorithm>

#include "shaper/packet/lateness.h"

namespace reprise {
namespace {

using std::chrono::nanoseconds;

constexpr double kNsPerSecond = 1e9;

}  // namespace

LinkSeries::LinkSeries(const LinkProfile& profile)
    : down_{.rate_bps = profile.down.rate_bps}, up_{.rate_bps = profile.up.rate_bps} {}

void LinkSeries::append(const LinkLogEntry& entry) {
  using Fate = LinkLogEntry::Fate;
  Direction& direction = entry.side == LinkSide::down ? down_ : up_;
  auto const arrived = std::max(entry.in - start_, nanoseconds(0));
  make_room(std::max({arrived, entry.due - start_, entry.written - start_}));
  Span& span = at(direction, arrived);
  if (entry.fate == Fate::delivered) {
    auto const delay = std::max(entry.written - start_ - arrived, nanoseconds(0));
    ++span.packets;
    span.delay_sum += delay;
    span.delay_max = std::max(span.delay_max, delay);
  } else {
    ++span.drops;
  }
  bool const sent = entry.fate == Fate::delivered || entry.fate == Fate::send_failed;
  // What a queue drops as it leaves was in it until then; what was refused never was.
  if (!sent && entry.fate != Fate::codel_drop) return;
  auto const left = std::max(arrived, entry.left - start_);
  double const bits = 8.0 * entry.bytes;
  nanoseconds took{0};
  if (direction.rate_bps > 0) {
    took = nanoseconds(
        static_cast<std::int64_t>(bits * kNsPerSecond / static_cast<double>(direction.rate_bps)));
  }
  add_step(direction, &Span::queue_bytes, arrived, entry.bytes);
  add_step(direction, &Span::queue_bytes, left, -static_cast<double>(entry.bytes));
  if (sent) add_wire_time(direction, bits, std::min(took, left - arrived), left);
}

/// The rate as it is on the wire: a packet's bits over the time that it takes.
void LinkSeries::add_wire_time(Direction& direction, double bits, nanoseconds took,
                               nanoseconds left) {
  if (took.count() == 0) {
    at(direction, left).rate_bps.area += bits * kNsPerSecond;
    return;
  }
  double const rate = bits * kNsPerSecond / static_cast<double>(took.count());
  add_step(direction, &Span::rate_bps, left - took, rate);
  add_step(direction, &Span::rate_bps, left, -rate);
}

LinkTimeline LinkSeries::timeline(LinkSide side) const {
  const Direction& direction = side == LinkSide::down ? down_ : up_;
  LinkTimeline result{.width = width_};
  auto const width = static_cast<double>(width_.count());
  double queue = 0;
  double rate = 0;
  for (std::size_t i = 0; i < used_; ++i) {
    const Span& span = direction.spans[i];
    auto const packets = std::max(span.packets, std::uint32_t{1});
    // Differences of what is equal need not be zero to the last bit.
    result.spans.push_back({.queue_bytes = std::max(0.0, queue + span.queue_bytes.area / width),
                            .rate_bps = std::max(0.0, rate + span.rate_bps.area / width),
                            .packets = span.packets,
                            .delay_mean_ms = to_ms(span.delay_sum) / packets,
                            .delay_max_ms = to_ms(span.delay_max),
                            .drops = span.drops});
    queue += span.queue_bytes.sum;
    rate += span.rate_bps.sum;
  }
  return result;
}

void LinkSeries::make_room(nanoseconds until) {
  while (until >= width_ * kSpansMax) {
    for (Direction* const direction : {&down_, &up_}) {
      auto& spans = direction->spans;
      auto const width = static_cast<double>(width_.count());
      auto const join = [width](const Steps& first, const Steps& second) {
        return Steps{.sum = first.sum + second.sum,
                     .area = first.area + first.sum * width + second.area};
      };
      for (std::size_t i = 0; i < kSpansMax / 2; ++i) {
        const Span first = spans[2 * i];
        const Span second = spans[2 * i + 1];
        spans[i] = {.queue_bytes = join(first.queue_bytes, second.queue_bytes),
                    .rate_bps = join(first.rate_bps, second.rate_bps),
                    .packets = first.packets + second.packets,
                    .drops = first.drops + second.drops,
                    .delay_sum = first.delay_sum + second.delay_sum,
                    .delay_max = std::max(first.delay_max, second.delay_max)};
      }
      std::fill(spans.begin() + kSpansMax / 2, spans.end(), Span{});
    }
    width_ *= 2;
    used_ = (used_ + 1) / 2;
  }
  used_ = std::max(used_, static_cast<std::size_t>(until / width_) + 1);
}

LinkSeries::Span& LinkSeries::at(Direction& direction, nanoseconds time) {
  return direction.spans[static_cast<std::size_t>(time / width_)];
}

void LinkSeries::add_step(Direction& direction, Steps Span::* quantity, nanoseconds time,
                          double step) {
  Steps& steps = at(direction, time).*quantity;
  auto const rest = width_ - time % width_;
  steps.sum += step;
  steps.area += step * static_cast<double>(rest.count());
}

}  // namespace reprise
