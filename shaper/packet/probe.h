#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace reprise {

/// Probes one direction: sends datagrams from one socket to another through the link, and records
/// the times of sending and of receipt by the kernel (CLOCK_REALTIME). The sockets are connected to
/// each other and non-blocking, and outlive this.
class Probe {
 public:
  struct Arrival {
    std::uint32_t index;  ///< as counted by send()
    std::uint32_t packet_bytes;
    std::chrono::nanoseconds sent;
    std::chrono::nanoseconds received;
  };

  Probe(int from, int to);

  /// Sends one datagram that is an IP packet of `packet_bytes`, kPacketBytesMin to the MTU.
  void send(std::uint32_t packet_bytes);
  /// Receives all datagrams that have arrived.
  void receive();

  std::uint32_t sent() const { return sent_; }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  int receiving_fd() const { return to_; }

  /// IPv4 and UDP headers, and the contents of a probe.
  static constexpr std::uint32_t kPacketBytesMin = 64;

 private:
  int from_;
  int to_;
  std::uint32_t sent_ = 0;
  std::vector<Arrival> arrivals_;
};

}  // namespace reprise
