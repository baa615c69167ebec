#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace reprise {

/// A range of bytes in one direction of a connection: from `begin` to before `end`.
struct SequenceRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool operator==(const SequenceRange&) const = default;
};

/// The acknowledgement in one segment.
struct Acknowledgement {
  std::uint64_t upto = 0;                ///< all bytes below were received
  std::array<SequenceRange, 3> sacks{};  ///< also these, the most recently changed first (RFC 2018)
  std::uint32_t sack_count = 0;
};

/// The receiving half of one direction: what has arrived, and when it is acknowledged: at once for
/// the first 64 segments (Linux does so for longer than its 16 quick acknowledgements: it stops
/// between the 57th and the 135th segment of a transfer), after each second full segment, and
/// whenever data is missing; otherwise 40 ms later.
class TcpReceiver {
 public:
  using Time = std::chrono::nanoseconds;

  /// Bytes that have arrived in order.
  std::uint64_t delivered() const { return delivered_; }

  /// Handles an arrived segment. Returns whether to acknowledge it at once.
  bool receive(SequenceRange segment, Time now);

  /// When the delayed acknowledgement is due.
  std::optional<Time> ack_due() const { return ack_due_; }

  /// The acknowledgement for a segment sent now; cancels a delayed one.
  Acknowledgement acknowledge();

 private:
  void keep(SequenceRange segment);

  std::uint64_t delivered_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint32_t quick_left_ = 64;
  std::vector<SequenceRange> beyond_;  // after a gap; the most recently changed first
  std::optional<Time> ack_due_;
};

}  // namespace reprise
