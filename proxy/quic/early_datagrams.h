#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/quic/quic_socket.h"

namespace reprise {

/// First datagrams of clients that have only a later part of the ClientHello: another datagram has
/// its beginning, and was overtaken or lost. They wait for it, since ngtcp2 needs it to begin a
/// connection. Anyone can send them, so they are bounded: kCountMax, kDatagramBytesMax, kTimeMax;
/// the oldest make room. Not thread-safe.
class EarlyDatagrams {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kCountMax = 64;
  static constexpr std::size_t kDatagramBytesMax = 2048;
  /// Enough for a client's first retransmissions.
  static constexpr std::chrono::seconds kTimeMax{5};

  struct Held {
    std::vector<std::byte> bytes;
    std::uint32_t ecn = 0;
  };

  /// Keeps a copy of `datagram`; longer ones than kDatagramBytesMax are dropped. `id`: the
  /// identifier that the client chose for the server. `now` never goes back.
  void hold(const QuicSocket::Datagram& datagram, std::string_view id, TimePoint now);
  /// Removes and returns those with the identifier and the addresses of `datagram`, in the order
  /// in which they arrived.
  std::vector<Held> take(const QuicSocket::Datagram& datagram, std::string_view id, TimePoint now);
  /// Drops those that have waited longer than kTimeMax.
  void drop_old(TimePoint now);

  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Held held;
    std::string id;
    QuicSocket::Endpoint local;
    QuicSocket::Endpoint client;
    TimePoint arrived;
  };
  std::deque<Waiting> waiting_;  // the oldest first
};

}  // namespace reprise
