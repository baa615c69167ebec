#include "shaper/packet/link_direction.h"

#include <algorithm>

#include "shaper/packet/network/topology.h"

namespace reprise {
namespace {

LinkLogEntry::Fate fate_of(Admission verdict) {
  switch (verdict) {
    case Admission::lost:
      return LinkLogEntry::Fate::lost;
    case Admission::queue_full:
      return LinkLogEntry::Fate::queue_full;
    case Admission::aqm_drop:
      return LinkLogEntry::Fate::aqm_drop;
    case Admission::outage:
      return LinkLogEntry::Fate::outage;
    case Admission::queued:
      break;
  }
  return LinkLogEntry::Fate::delivered;
}

}  // namespace

bool LinkDirection::take_in(StampClock& stamps) {
  int taken = 0;
  for (; taken < kBatch; ++taken) {
    auto const frame = from_.front();
    if (!frame) break;
    auto const now = link_now();
    // A stamp is as good as the clocks are; it lies between the one before and now.
    auto const arrived =
        std::clamp(stamps.to_link(frame->arrived, now), std::min(last_arrival_, now), now);
    last_arrival_ = arrived;
    auto const distance = far_.delay_of(frame->bytes);
    if (!frame->whole) {
      ++drops_.malformed;
    } else if (distance == distance.zero() ||
               !far_.hold(frame->bytes, frame->offload, arrived + distance)) {
      take_far(arrived);
      take(frame->bytes, frame->offload, arrived);
    }
    from_.pop();
  }
  return taken > 0;
}

void LinkDirection::take_far(std::chrono::nanoseconds now) {
  while (auto const frame = far_.take(now)) take(frame->bytes, frame->offload, frame->due);
}

std::optional<std::chrono::nanoseconds> LinkDirection::next_event() const {
  auto const next = link_.next_event();
  // In bits: a packet of kLinkMtuBytes takes less than half of kCoalesce.
  constexpr auto kFast = std::uint64_t{2} * 8 * kLinkMtuBytes *
                         std::chrono::nanoseconds(std::chrono::seconds(1)).count() /
                         kCoalesce.count();
  bool const fast = link_.settings().rate_bps >= kFast;
  auto const due = next && fast && link_.counters().queued_packets > 0 ? *next + kCoalesce : next;
  auto const far = far_.next_due();
  return due && far ? std::min(*due, *far) : due ? due : far;
}

void LinkDirection::take(std::span<const std::byte> frame, const OffloadHeader& offload,
                         std::chrono::nanoseconds arrived) {
  arrived = last_enqueued_ = std::max(arrived, last_enqueued_);
  auto const shape = shape_of(frame, offload);
  if (!shape) {
    ++drops_.malformed;
    return;
  }
  if (held_.bytes() + frame.size() > kHeldBytesMax) {
    drops_.memory += shape->segments;
    return;
  }
  auto const serial = held_.next_serial();
  auto const first_index = next_index_;
  std::uint32_t queued = 0;
  for (std::uint32_t i = 0; i < shape->segments; ++i) {
    Packet const packet{.handle = HeldPackets::handle_of(serial, i),
                        .size_bytes = shape->packet_bytes(i)};
    auto const index = next_index_++;
    auto const verdict = link_.enqueue(packet, arrived);
    if (verdict == Admission::queued) {
      ++queued;
    } else if (is_told()) {
      tell({.in = arrived,
            .due = arrived,
            .index = index,
            .bytes = packet.size_bytes,
            .side = side_,
            .fate = fate_of(verdict)});
    }
  }
  if (queued == 0) return;
  held_.add({.arrived = arrived,
             .first_index = first_index,
             .shape = *shape,
             .offload = offload,
             .left = queued},
            frame);
}

bool LinkDirection::give_out(std::chrono::nanoseconds now) {
  take_far(now);
  departures_.clear();
  link_.take_due(now, departures_);
  for (std::size_t i = 0; i < departures_.size();) i += write_group(i);
  return !departures_.empty();
}

/// The departures from `first` on that are neighbours in one frame, as one packet. How many.
std::size_t LinkDirection::write_group(std::size_t first) {
  const Departure& begin = departures_[first];
  auto const serial = HeldPackets::serial_of(begin.handle);
  auto const index = HeldPackets::index_of(begin.handle);
  std::uint32_t count = 1;
  while (first + count < departures_.size() &&
         departures_[first + count].handle == HeldPackets::handle_of(serial, index + count) &&
         departures_[first + count].outcome == begin.outcome) {
    ++count;
  }
  const HeldPackets::Held& held = held_.at(serial);
  std::chrono::nanoseconds written{0};
  auto fate = LinkLogEntry::Fate::codel_drop;
  if (begin.outcome == PacketFate::delivered) {
    fate = LinkLogEntry::Fate::delivered;
    auto const write_begun = link_now();
    if (write(held, index, count)) {
      fate = LinkLogEntry::Fate::send_failed;
      drops_.send += count;
    }
    written = link_now();
    if (fate == LinkLogEntry::Fate::delivered) {
      chain_.add(
          {.arrived = held.arrived, .due = begin.due, .begun = write_begun, .written = written});
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Departure& departure = departures_[first + i];
    if (fate == LinkLogEntry::Fate::delivered) lateness_.add(written - departure.due, 1);
    if (is_told()) tell_end(held, departure, fate, written);
  }
  held_.release(serial, count);
  return count;
}

std::error_code LinkDirection::write(const HeldPackets::Held& held, std::uint32_t first,
                                     std::uint32_t count) {
  auto const frame = held.frame();
  if (count == held.shape.segments) return to_.send(held.offload, {}, frame);
  auto const cut = cut_segments(frame, held.offload, held.shape, first, count);
  return to_.send(cut.offload, std::span(cut.headers).first(cut.headers_bytes),
                  frame.subspan(cut.payload_at, cut.payload_bytes));
}

void LinkDirection::tell(const LinkLogEntry& entry) {
  if (log_ != nullptr) log_->append(entry);
  if (series_ != nullptr) series_->append(entry);
}

void LinkDirection::tell_end(const HeldPackets::Held& held, const Departure& departure,
                             LinkLogEntry::Fate fate, std::chrono::nanoseconds written) {
  auto const index = HeldPackets::index_of(departure.handle);
  tell({.in = held.arrived,
        .left = departure.left,
        .due = departure.due,
        .written = fate == LinkLogEntry::Fate::delivered ? written : std::chrono::nanoseconds(0),
        .index = held.first_index + index,
        .bytes = held.shape.packet_bytes(index),
        .side = side_,
        .fate = fate});
}

}  // namespace reprise
