#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace reprise {

/// Of one direction of a connection: bytes from `begin` to before `end`.
struct SequenceRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool operator==(const SequenceRange&) const = default;
};

/// What one segment tells the other side about what was received.
struct Acknowledgement {
  std::uint64_t upto = 0;                ///< all below was
  std::array<SequenceRange, 3> sacks{};  ///< and these, the one that changed last first (RFC 2018)
  std::uint32_t sack_count = 0;
};

/// The receiving half of one direction: what arrived, and when that is acknowledged: at once the
/// first 64 times (Linux keeps to that for somewhat longer than its 16 quick acknowledgements:
/// until after the 57th segment of a transfer and before the 135th), for every second full segment,
/// and whenever something is missing; otherwise 40 ms later.
class TcpReceiver {
 public:
  using Time = std::chrono::nanoseconds;

  /// Bytes that have arrived in order.
  std::uint64_t delivered() const { return delivered_; }

  /// A segment has arrived. Whether it is acknowledged at once.
  bool receive(SequenceRange segment, Time now);

  /// When the acknowledgement that was put off is due.
  std::optional<Time> ack_due() const { return ack_due_; }

  /// The acknowledgement that goes with a segment sent now; nothing is put off any more.
  Acknowledgement acknowledge();

 private:
  void keep(SequenceRange segment);

  std::uint64_t delivered_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint32_t quick_left_ = 64;
  std::vector<SequenceRange> beyond_;  // a gap; the one that changed last first
  std::optional<Time> ack_due_;
};

}  // namespace reprise
