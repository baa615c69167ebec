#include "analysis/prediction/tcp_link.h"

#include <algorithm>
#include <cmath>

namespace reprise {
namespace {

/// What rounding can leave of a transfer that has ended.
constexpr double kRestBytes = 1e-6;

// HyStart, by the numbers of Linux (net/ipv4/tcp_cubic.c).
constexpr double kHyStartWindowBytes = 16 * TcpLink::kSegmentBytes;
constexpr int kHyStartSamples = 8;
constexpr double kHyStartLeastUs = 4'000;
constexpr double kHyStartMostUs = 16'000;

/// An acknowledgement is of so much (RFC 1122, section 4.2.3.2).
constexpr double kAcknowledgedBytes = 2 * TcpLink::kSegmentBytes;

/// A server's first flight of TLS 1.3, with a certificate.
constexpr double kHandshakeBytes = 2 * TcpLink::kSegmentBytes;

// CUBIC, by the same: of what is acknowledged, the window grows by a half at most, and as long as
// nothing was lost by a twentieth at least.
constexpr double kCubicMost = 1.0 / 2;
constexpr double kCubicLeast = 1.0 / 20;
constexpr double kCubicSegments = .4;  // C, by the cube of seconds (RFC 9438, section 5.1)

/// What Linux adds to a smoothed round trip at least for a timeout (TCP_RTO_MIN).
constexpr double kTimeoutUs = 200'000;

}  // namespace

TcpLink::TcpLink(double bytes_per_us, double bytes, WriteAhead ahead)
    : bytes_per_us_(bytes_per_us),
      packet_bytes_(std::max(kSegmentBytes, bytes / kPacketsMax)),
      ahead_(ahead) {}

std::size_t TcpLink::connect(double round_trip_us) {
  connections_.push_back({.round_trip_us = round_trip_us,
                          .sent_us = now_us_,
                          .smoothed_us = round_trip_us,
                          .deviation_us = round_trip_us / 2,
                          .transfers = {},
                          .socket = {}});
  return connections_.size() - 1;
}

void TcpLink::send(std::size_t connection, std::size_t transfer, double bytes,
                   TransferPriority priority) {
  restart_if_idle(connections_[connection]);
  auto& transfers = connections_[connection].transfers;
  // After all that go first. Of equal ones that share, each sends a packet in turn.
  auto const after = std::ranges::upper_bound(transfers, priority, {}, &Transfer::priority);
  transfers.insert(after, {.name = transfer,
                           .priority = priority,
                           .left_bytes = bytes,
                           .record_bytes = std::min(bytes, kRecordBytesMax)});
  send_what_may(connection);
}

/// As Linux does (tcp_cwnd_restart): half of the window goes with each timeout, down to the first;
/// slow start takes it to three quarters of what it was at least.
void TcpLink::restart_if_idle(Connection& connection) const {
  auto const timeout_us =
      connection.smoothed_us + std::max(kTimeoutUs, 4 * connection.deviation_us);
  if (connection.in_flight_bytes > kRestBytes) return;
  auto idle_us = now_us_ - connection.sent_us;
  connection.threshold_us += idle_us;
  if (idle_us > timeout_us) {
    connection.threshold_bytes =
        std::max(connection.threshold_bytes, connection.window_bytes * 3 / 4);
  }
  for (; idle_us > timeout_us && connection.window_bytes > kFirstWindowBytes;
       idle_us -= timeout_us) {
    connection.window_bytes = std::max(connection.window_bytes / 2, kFirstWindowBytes);
  }
}

void TcpLink::send_what_may(std::size_t connection) {
  Connection& sender = connections_[connection];
  write_what_may(sender);
  while (may_send(sender)) {
    if (sender.socket.empty()) write_piece(sender);
    send_packet(connection);
    write_what_may(sender);
  }
}

bool TcpLink::may_send(const Connection& connection) const {
  if (connection.socket.empty() && connection.transfers.empty()) return false;
  auto const bytes = connection.socket.empty()
                         ? std::min(packet_bytes_, connection.transfers.front().left_bytes)
                         : connection.socket.front().bytes;
  return connection.in_flight_bytes < kRestBytes ||
         connection.in_flight_bytes + bytes <= connection.window_bytes + kRestBytes;
}

void TcpLink::write_what_may(Connection& connection) const {
  if (connection.is_stopped && connection.unsent_bytes > ahead_.bytes_left) return;
  while (!connection.transfers.empty() && connection.unsent_bytes < ahead_.bytes_max) {
    write_piece(connection);
  }
  connection.is_stopped = !connection.transfers.empty();
}

/// Of the first transfer, as much as a packet has.
void TcpLink::write_piece(Connection& connection) const {
  auto& transfers = connection.transfers;
  auto transfer = transfers.front();
  transfers.erase(transfers.begin());
  auto const bytes = std::min(packet_bytes_, transfer.left_bytes);
  transfer.left_bytes -= bytes;
  bool const is_last = transfer.left_bytes <= kRestBytes;
  bool const had_record = transfer.is_begun && transfer.record_bytes <= kRestBytes;
  transfer.record_bytes -= bytes;
  connection.socket.push_back(
      {.bytes = bytes,
       .arrival = {.transfer = transfer.name,
                   .is_first = !transfer.is_begun,
                   .has_record = !had_record && transfer.record_bytes <= kRestBytes,
                   .is_last = is_last}});
  connection.unsent_bytes += bytes;
  if (is_last) return;
  transfer.is_begun = true;
  auto const place =
      transfer.priority.incremental
          ? std::ranges::upper_bound(transfers, transfer.priority, {}, &Transfer::priority)
          : transfers.begin();
  transfers.insert(place, transfer);
}

void TcpLink::send_packet(std::size_t connection) {
  Connection& sender = connections_[connection];
  auto const [bytes, arrival] = sender.socket.front();
  sender.socket.pop_front();
  sender.unsent_bytes -= bytes;
  free_us_ = std::max(free_us_, now_us_) + (bytes_per_us_ > 0 ? bytes / bytes_per_us_ : 0);
  queue_.push_back({.connection = connection,
                    .bytes = bytes,
                    .came_us = now_us_,
                    .leaves_us = free_us_,
                    .arrival = arrival});
  sender.in_flight_bytes += bytes;
  sender.sent_bytes += bytes;
  sender.sent_us = now_us_;
  sender.most_in_flight_bytes = std::max(sender.most_in_flight_bytes, sender.in_flight_bytes);
}

double TcpLink::wait_us() const {
  return std::max(0.0, free_us_ - now_us_);
}

double TcpLink::handshake_wait_us(std::size_t connection) {
  auto& least_us = connections_[connection].least_us;
  auto const waited_us = wait_us();
  auto const flight_us = bytes_per_us_ > 0 ? kHandshakeBytes / bytes_per_us_ : 0;
  free_us_ = now_us_ + waited_us + flight_us;
  least_us = std::min(least_us, connections_[connection].round_trip_us + waited_us + flight_us);
  return waited_us;
}

double TcpLink::next() const {
  auto const leaves_us = queue_.empty() ? kNever : queue_.front().leaves_us;
  return acknowledgements_.empty() ? leaves_us : std::min(leaves_us, acknowledgements_.top().at_us);
}

std::vector<TcpLink::Arrival> TcpLink::advance(double at_us) {
  std::vector<Arrival> arrivals;
  now_us_ = at_us;
  while (!queue_.empty() && queue_.front().leaves_us <= now_us_) {
    Packet const& packet = queue_.front();
    auto const& arrival = packet.arrival;
    if (arrival.is_first || arrival.has_record || arrival.is_last) arrivals.push_back(arrival);
    acknowledgements_.push(
        {.at_us = packet.leaves_us + connections_[packet.connection].round_trip_us,
         .connection = packet.connection,
         .bytes = packet.bytes,
         .waited_us = packet.leaves_us - packet.came_us});
    queue_.pop_front();
  }
  while (!acknowledgements_.empty() && acknowledgements_.top().at_us <= now_us_) {
    auto const acknowledgement = acknowledgements_.top();
    acknowledgements_.pop();
    take(acknowledgement);
  }
  return arrivals;
}

void TcpLink::take(const Acknowledgement& acknowledgement) {
  Connection& sender = connections_[acknowledgement.connection];
  sender.acknowledged_bytes += acknowledgement.bytes;
  if (sender.acknowledged_bytes > sender.round_ends_bytes) {
    sender.round_ends_bytes = sender.sent_bytes;
    sender.most_in_flight_bytes = sender.in_flight_bytes;
    sender.samples = 0;
    sender.least_of_round_us = kNever;
  }
  auto const round_trip_us = sender.round_trip_us + acknowledgement.waited_us;
  sender.delayed_bytes += acknowledgement.bytes;
  bool const is_acknowledged = sender.delayed_bytes >= kAcknowledgedBytes - kRestBytes;
  if (is_acknowledged) measure(sender, round_trip_us);
  grow(sender, acknowledgement.bytes);
  if (is_acknowledged) look_for_queue(sender, round_trip_us);
  if (is_acknowledged) sender.delayed_bytes = 0;
  sender.in_flight_bytes = std::max(0.0, sender.in_flight_bytes - acknowledgement.bytes);
  send_what_may(acknowledgement.connection);
}

void TcpLink::measure(Connection& connection, double round_trip_us) {
  auto const error_us = round_trip_us - connection.smoothed_us;
  connection.smoothed_us += error_us / 8;
  connection.deviation_us += (std::abs(error_us) - connection.deviation_us) / 4;
  connection.least_us = std::min(connection.least_us, round_trip_us);
}

/// A window that is not used does not grow (RFC 7661, section 4).
void TcpLink::grow(Connection& connection, double bytes) const {
  double& window_bytes = connection.window_bytes;
  if (window_bytes < connection.threshold_bytes) {
    if (window_bytes < 2 * connection.most_in_flight_bytes) window_bytes += bytes;
    return;
  }
  if (window_bytes >= connection.most_in_flight_bytes + packet_bytes_) return;
  auto const ahead_s = (now_us_ - connection.threshold_us + connection.least_us) / 1e6;
  auto const target_bytes =
      connection.threshold_bytes + kCubicSegments * std::pow(ahead_s, 3) * kSegmentBytes;
  window_bytes +=
      bytes * std::clamp((target_bytes - window_bytes) / window_bytes, kCubicLeast, kCubicMost);
}

/// Until one was found: slow start ends there.
void TcpLink::look_for_queue(Connection& connection, double round_trip_us) const {
  if (connection.threshold_bytes != kNever || connection.window_bytes < kHyStartWindowBytes) return;
  auto& least_us = connection.least_of_round_us;
  least_us = std::min(least_us, round_trip_us);
  if (connection.samples < kHyStartSamples) {
    ++connection.samples;
    return;
  }
  auto const most_us = std::clamp(connection.least_us / 8, kHyStartLeastUs, kHyStartMostUs);
  if (least_us <= connection.least_us + most_us) return;
  connection.threshold_bytes = connection.window_bytes;
  connection.threshold_us = now_us_;
}

}  // namespace reprise
