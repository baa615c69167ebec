#include "archive/edit/retime.h"

#include <algorithm>

namespace reprise {
namespace {

using std::chrono::nanoseconds;

/// Times in a file can have any value; results over the maximum are cut to it.
SessionTime moved(SessionTime time, nanoseconds by) {
  std::int64_t sum = 0;
  if (time == kNoTime) return time;
  bool const over = __builtin_add_overflow(time.count(), by.count(), &sum);
  if (over || SessionTime(sum) == kNoTime) return by > nanoseconds() ? SessionTime::max() : time;
  return SessionTime(sum);
}

}  // namespace

std::optional<ThinkTimeChange> ThinkTimeChange::parse(std::string_view text) {
  if (auto const factor = parse_factor(text)) {
    return ThinkTimeChange{.kind = Kind::kMultiply, .by = {}, .factor = *factor};
  }
  auto kind = Kind::kSet;
  if (text.starts_with('+') || text.starts_with('-')) {
    kind = text.front() == '+' ? Kind::kAdd : Kind::kTakeOff;
    text.remove_prefix(1);
  }
  if (text.starts_with('-')) return std::nullopt;  // "--0"
  auto const by = parse_milliseconds(text);
  if (!by) return std::nullopt;
  return ThinkTimeChange{.kind = kind, .by = *by};
}

nanoseconds ThinkTimeChange::of(nanoseconds think_time) const {
  switch (kind) {
    case Kind::kSet:
      return by;
    case Kind::kAdd:
      return std::min<nanoseconds>(think_time + by, kThinkTimeMax);
    case Kind::kTakeOff:
      return std::max(think_time - by, nanoseconds());
    case Kind::kMultiply:
      break;
  }
  return multiplied(think_time, factor);
}

bool change_think_time(Exchange& exchange, std::optional<nanoseconds> round_trip,
                       const ThinkTimeChange& change) {
  Timings& timings = exchange.timings;
  if (timings.request_sent == kNoTime || timings.first_byte == kNoTime) return false;
  auto const before = think_time_until(timings.first_byte, timings, round_trip);
  auto const after = change.of(before);
  if (after == before) return true;
  // A head that came sooner than a round trip after its request has no think time to lengthen.
  auto const unthought =
      time_between(timings.request_sent, timings.first_byte) - before;  // of the round trip
  auto const first_byte =
      moved(timings.request_sent, std::max(unthought, round_trip.value_or(nanoseconds())) + after);
  auto const by = first_byte > timings.first_byte ? time_between(timings.first_byte, first_byte)
                                                  : -time_between(first_byte, timings.first_byte);
  timings.first_byte = moved(timings.first_byte, by);
  timings.end = moved(timings.end, by);
  for (ChunkTime& chunk : exchange.response.chunk_times) chunk.time = moved(chunk.time, by);
  for (StoredInterimResponse& interim : exchange.interim) {
    interim.time = std::min(interim.time, timings.first_byte);
  }
  return true;
}

Result<void> RetimedCopy::carry(std::uint32_t ordinal, Exchange& exchange) {
  if (selection_.has_exchange(ordinal)) {
    auto const round_trip = round_trips_.to_origin_of(exchange);
    bool const timed = change_think_time(exchange, round_trip, change_);
    ++(timed ? changed_ : timeless_);
  }
  return carry_bodies(exchange);
}

}  // namespace reprise
