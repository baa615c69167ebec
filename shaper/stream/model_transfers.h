#pragma once

#include <cstdint>
#include <vector>

#include "shaper/stream/stream_network.h"

namespace reprise {

inline constexpr std::uint64_t kRequestBytes = 300;

/// A client that sends requests and a server that answers at once, over the stream model.
class ModelTransfers {
 public:
  using Time = StreamNetwork::Time;

  ModelTransfers(const LinkProfile& profile, std::uint64_t seed)
      : network_(profile, seed, Time(0)), connection_(network_.open(Time(0))) {}

  /// Runs the client's end of the handshake.
  void connect() {
    while (!connected_ && step()) continue;
  }

  /// Time from the request to the last byte of its answer; Time::max() if the model gives up.
  Time fetch(std::uint64_t bytes) {
    auto const begin = now_;
    asked_ += kRequestBytes;
    network_.write(connection_, Direction::up, kRequestBytes, now_);
    while (network_.delivered(connection_, Direction::up) < asked_ && step()) continue;
    answered_ += bytes;
    network_.write(connection_, Direction::down, bytes, now_);
    while (network_.delivered(connection_, Direction::down) < answered_ && step()) continue;
    return failed_ ? Time::max() : now_ - begin;
  }

  /// Waits; only pending work continues.
  void rest(Time time) {
    now_ += time;
    network_.advance(now_, events_);
  }

  Time now() const { return now_; }
  const StreamNetwork& network() const { return network_; }
  std::uint64_t retransmissions() const {
    return network_.retransmissions(connection_, Direction::down);
  }

 private:
  bool step() {
    auto const next = network_.next_event();
    if (failed_ || !next) return false;
    now_ = *next;
    events_.clear();
    network_.advance(now_, events_);
    for (const StreamEvent& event : events_) {
      connected_ |= event.kind == StreamEvent::Kind::connected;
      failed_ |= event.kind == StreamEvent::Kind::failed;
    }
    return true;
  }

  StreamNetwork network_;
  Time now_{0};
  std::uint64_t connection_;
  bool connected_ = false;
  bool failed_ = false;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::vector<StreamEvent> events_;
};

}  // namespace reprise
