#include "shaper/stream/connection.h"

#include <algorithm>

namespace reprise {

using namespace std::chrono_literals;

namespace {

constexpr int kHellosMax = 7;     // tcp_syn_retries 6
constexpr int kTimeoutsMax = 15;  // tcp_retries2

}  // namespace

StreamConnection::StreamConnection(std::uint64_t id) : id_(id) {
  end_of(Direction::up).hello_now = true;
}

void StreamConnection::write(Direction direction, std::uint64_t bytes, Time now) {
  end_of(direction).sender.write(bytes, now);
}

void StreamConnection::finish(Direction direction, Time now) {
  End& end = end_of(direction);
  if (end.finished) return;
  end.finished = true;
  end.sender.write(1, now);
}

void StreamConnection::establish(End& end, Time now) {
  if (end.established) return;
  end.established = true;
  end.hello_due.reset();
  // The reply to a SYN that was sent twice may belong to either.
  if (end.hellos == 1) end.sender.on_handshake(now - *end.hello_sent);
}

void StreamConnection::receive(const StreamPacket& packet, Time now) {
  End& end = end_of(opposite(packet.direction));
  switch (packet.kind) {
    case StreamPacket::Kind::syn:
      if (!end.established) end.hello_now = true;
      return;
    case StreamPacket::Kind::syn_ack:
      establish(end, now);
      end.ack_now = true;
      return;
    case StreamPacket::Kind::segment:
      break;
    case StreamPacket::Kind::datagram:
      return;
  }
  establish(end, now);
  end.sender.on_ack(packet.ack, now);
  if (packet.bytes.end > packet.bytes.begin && end.receiver.receive(packet.bytes, now)) {
    end.ack_now = true;
  }
}

void StreamConnection::serve(Time now, const Send& send) {
  serve_end(Direction::up, now, send);
  serve_end(Direction::down, now, send);
}

void StreamConnection::serve_end(Direction direction, Time now, const Send& send) {
  End& end = end_of(direction);
  if (end.hello_now) {
    end.hello_now = false;
    if (!end.hello_sent) end.hello_sent = now;
    end.hello_due = now + 1s * (1 << std::min(end.hellos, kHellosMax));
    ++end.hellos;
    send(
        {.kind = direction == Direction::up ? StreamPacket::Kind::syn : StreamPacket::Kind::syn_ack,
         .direction = direction,
         .id = id_});
  }
  if (!end.established) return;
  while (auto const bytes = end.sender.next(now)) {
    send({.direction = direction, .id = id_, .bytes = *bytes, .ack = end.receiver.acknowledge()});
    end.ack_now = false;
  }
  if (!end.ack_now) return;
  end.ack_now = false;
  send({.direction = direction, .id = id_, .ack = end.receiver.acknowledge()});
}

std::optional<StreamConnection::Time> StreamConnection::deadline() const {
  std::optional<Time> first;
  auto const consider = [&](const std::optional<Time>& time) {
    if (time && (!first || *time < *first)) first = time;
  };
  for (const End& end : ends_) {
    consider(end.hello_due);
    consider(end.sender.timer());
    consider(end.receiver.ack_due());
  }
  return first;
}

bool StreamConnection::note_wake(Time at) {
  if (wake_ && *wake_ <= at) return false;
  wake_ = at;
  return true;
}

bool StreamConnection::take_wake(Time at) {
  if (wake_ != at) return false;
  wake_.reset();
  return true;
}

void StreamConnection::expire(Time now) {
  for (End& end : ends_) {
    if (end.hello_due && *end.hello_due <= now) {
      end.hello_due.reset();
      end.hello_now = end.hellos < kHellosMax;
    }
    if (end.sender.timer() && *end.sender.timer() <= now) end.sender.on_timer(now);
    if (end.receiver.ack_due() && *end.receiver.ack_due() <= now) end.ack_now = true;
  }
}

bool StreamConnection::failed() const {
  return std::ranges::any_of(ends_, [](const End& end) {
    bool const unanswered = !end.established && end.hellos >= kHellosMax && !end.hello_due;
    return unanswered || end.sender.timeouts() >= kTimeoutsMax;
  });
}

std::uint64_t StreamConnection::delivered(Direction direction) const {
  auto const arrived = end_of(opposite(direction)).receiver.delivered();
  return arrived - (ended(direction) ? 1 : 0);
}

bool StreamConnection::ended(Direction direction) const {
  End const& from = end_of(direction);
  return from.finished && end_of(opposite(direction)).receiver.delivered() == from.sender.written();
}

std::uint64_t StreamConnection::unsent(Direction direction) const {
  auto const& sender = end_of(direction).sender;
  return sender.written() - sender.sent();
}

std::uint64_t StreamConnection::unacknowledged(Direction direction) const {
  auto const& sender = end_of(direction).sender;
  return sender.written() - sender.acknowledged();
}

}  // namespace reprise
