#include "shaper/stream/stream_network.h"

#include <algorithm>

#include "shaper/outages.h"
#include "shaper/stream/segment.h"

namespace reprise {
namespace {

using Kind = StreamEvent::Kind;

std::uint32_t size_of(const StreamPacket& packet) {
  auto const bytes = static_cast<std::uint32_t>(packet.bytes.end - packet.bytes.begin);
  switch (packet.kind) {
    case StreamPacket::Kind::syn:
    case StreamPacket::Kind::syn_ack:
      return kSynBytes;
    case StreamPacket::Kind::segment:
      return kHeaderBytes + bytes;
    case StreamPacket::Kind::datagram:
      return kDatagramHeaderBytes + bytes;
  }
  return 0;
}

}  // namespace

StreamNetwork::StreamNetwork(const LinkProfile& profile, std::uint64_t seed, Time start)
    : down_(profile.down, seed, 0, start), up_(profile.up, seed, 1, start), time_(start) {}

std::uint64_t StreamNetwork::open(Time now) {
  run(now);
  auto const id = next_id_++;
  serve(connections_.try_emplace(id, id).first->second, now);
  return id;
}

void StreamNetwork::write(std::uint64_t connection, Direction direction, std::uint64_t bytes,
                          Time now) {
  run(now);
  auto const found = connections_.find(connection);
  if (found == connections_.end()) return;
  found->second.write(direction, bytes, now);
  serve(found->second, now);
}

void StreamNetwork::finish(std::uint64_t connection, Direction direction, Time now) {
  run(now);
  auto const found = connections_.find(connection);
  if (found == connections_.end()) return;
  found->second.finish(direction, now);
  serve(found->second, now);
}

void StreamNetwork::close(std::uint64_t connection) {
  connections_.erase(connection);
}

void StreamNetwork::send_datagram(std::uint64_t id, Direction direction, std::uint32_t bytes,
                                  Time now) {
  run(now);
  transmit(
      {.kind = StreamPacket::Kind::datagram, .direction = direction, .id = id, .bytes = {0, bytes}},
      now);
}

std::optional<StreamNetwork::Time> StreamNetwork::next_event() const {
  if (!events_.empty()) return time_;
  Time next = kNever;
  if (!deadlines_.empty()) next = deadlines_.top().at;
  for (const Link* const link : {&down_, &up_}) {
    if (auto const at = link->next_event()) next = std::min(next, *at);
  }
  return next == kNever ? std::nullopt : std::optional(std::max(next, time_));
}

void StreamNetwork::advance(Time now, std::vector<StreamEvent>& events) {
  run(now);
  events.insert(events.end(), events_.begin(), events_.end());
  events_.clear();
}

void StreamNetwork::change(const LinkProfile& profile, Time at) {
  down_.change(profile.down, at);
  up_.change(profile.up, at);
}

const StreamConnection* StreamNetwork::find(std::uint64_t connection) const {
  auto const found = connections_.find(connection);
  return found == connections_.end() ? nullptr : &found->second;
}

std::uint64_t StreamNetwork::delivered(std::uint64_t connection, Direction direction) const {
  auto const* const found = find(connection);
  return found ? found->delivered(direction) : 0;
}

std::uint64_t StreamNetwork::unsent(std::uint64_t connection, Direction direction) const {
  auto const* const found = find(connection);
  return found ? found->unsent(direction) : 0;
}

std::uint64_t StreamNetwork::unacknowledged(std::uint64_t connection, Direction direction) const {
  auto const* const found = find(connection);
  return found ? found->unacknowledged(direction) : 0;
}

std::uint64_t StreamNetwork::retransmissions(std::uint64_t connection, Direction direction) const {
  auto const* const found = find(connection);
  return found ? found->sender(direction).retransmissions() : 0;
}

void StreamNetwork::run(Time now) {
  for (;;) {
    Time next = deadlines_.empty() ? kNever : deadlines_.top().at;
    for (const Link* const link : {&down_, &up_}) {
      if (auto const at = link->next_event()) next = std::min(next, *at);
    }
    if (next > now) break;
    time_ = std::max(time_, next);
    take_from(Direction::down, time_);
    take_from(Direction::up, time_);
    while (!deadlines_.empty() && deadlines_.top().at <= time_) {
      auto const deadline = deadlines_.top();
      deadlines_.pop();
      wake(deadline, time_);
    }
  }
  time_ = std::max(time_, now);
}

void StreamNetwork::take_from(Direction direction, Time now) {
  due_.clear();
  link_of(direction).take_due(now, due_);
  for (const Departure& departure : due_) {
    auto const slot = static_cast<std::uint32_t>(departure.handle);
    if (departure.outcome == PacketFate::delivered) arrive(slot, now);
    release(slot, departure.outcome == PacketFate::delivered);
  }
}

void StreamNetwork::arrive(std::uint32_t slot, Time now) {
  StreamPacket const packet = packets_[slot];  // a copy, because packets_ may grow meanwhile
  if (packet.kind == StreamPacket::Kind::datagram) return;
  auto const found = connections_.find(packet.id);
  if (found == connections_.end()) return;
  StreamConnection& connection = found->second;
  bool const connected = connection.connected();
  bool const accepted = connection.accepted();
  bool const ended = connection.ended(packet.direction);
  auto const delivered = connection.delivered(packet.direction);
  auto const answered = opposite(packet.direction);
  auto const unacknowledged = connection.unacknowledged(answered);
  auto const unsent = connection.unsent(answered);
  connection.receive(packet, now);
  serve(connection, now);

  auto const tell = [&](bool changed, Kind kind, Direction direction) {
    if (changed) events_.push_back({.kind = kind, .id = packet.id, .direction = direction});
  };
  tell(connection.connected() && !connected, Kind::connected, Direction::down);
  tell(connection.accepted() && !accepted, Kind::accepted, Direction::up);
  tell(connection.delivered(packet.direction) > delivered, Kind::delivered, packet.direction);
  tell(connection.ended(packet.direction) && !ended, Kind::ended, packet.direction);
  tell(connection.unacknowledged(answered) < unacknowledged || connection.unsent(answered) < unsent,
       Kind::acknowledged, answered);
}

void StreamNetwork::release(std::uint32_t slot, bool arrived) {
  StreamPacket const& packet = packets_[slot];
  if (packet.kind == StreamPacket::Kind::datagram) {
    events_.push_back({.kind = arrived ? Kind::datagram : Kind::datagram_dropped,
                       .id = packet.id,
                       .direction = packet.direction});
  }
  free_slots_.push_back(slot);
}

void StreamNetwork::wake(const Deadline& deadline, Time now) {
  auto const found = connections_.find(deadline.connection);
  if (found == connections_.end()) return;
  StreamConnection& connection = found->second;
  if (!connection.take_wake(deadline.at)) return;
  connection.expire(now);
  if (connection.failed()) {
    events_.push_back({.kind = Kind::failed, .id = connection.id(), .direction = Direction::down});
    connections_.erase(found);
    return;
  }
  serve(connection, now);
}

void StreamNetwork::serve(StreamConnection& connection, Time now) {
  connection.serve(now, [&](const StreamPacket& packet) { transmit(packet, now); });
  auto const deadline = connection.deadline();
  // Timers are usually postponed, so an earlier wake is kept and finds nothing to do.
  if (deadline && connection.note_wake(*deadline)) {
    deadlines_.push({.at = *deadline, .connection = connection.id()});
  }
}

void StreamNetwork::transmit(const StreamPacket& packet, Time now) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(packets_.size()));
    packets_.emplace_back();
  }
  auto const slot = free_slots_.back();
  free_slots_.pop_back();
  packets_[slot] = packet;
  Packet const on_link{.handle = slot, .size_bytes = size_of(packet)};
  if (link_of(packet.direction).enqueue(on_link, now) != Admission::queued) release(slot, false);
}

}  // namespace reprise
