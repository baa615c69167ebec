#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "shaper/packet/link_log.h"
#include "shaper/profile.h"

namespace reprise {

/// One direction of a link over time, in spans of equal width.
struct LinkTimeline {
  struct Span {
    double queue_bytes = 0;     ///< mean of what waited or was on the wire
    double rate_bps = 0;        ///< of the wire, mean; IP bytes
    std::uint32_t packets = 0;  ///< that arrived at the link and were passed on
    double delay_mean_ms = 0;   ///< of these, from arrival until they were passed on
    double delay_max_ms = 0;
    std::uint32_t drops = 0;  ///< lost, refused by the queue, or in an outage
  };
  std::chrono::nanoseconds width{0};
  std::vector<Span> spans;
};

/// Adds up a link's packets as they end, in memory that does not grow: when a run gets longer than
/// kSpansMax spans, two become one. A packet that the link still holds at the end is not in it. Not
/// thread-safe.
class LinkSeries {
 public:
  static constexpr std::size_t kSpansMax = 512;
  static constexpr std::chrono::nanoseconds kWidthMin = std::chrono::milliseconds(5);

  explicit LinkSeries(const LinkProfile& profile);

  /// Times of entries are by the clock of `start`.
  void set_start(std::chrono::nanoseconds start) { start_ = start; }
  void append(const LinkLogEntry& entry);

  /// As many spans for both sides.
  LinkTimeline timeline(LinkSide side) const;

 private:
  /// A quantity that changes in steps: what the steps of one span add to it, and to its integral
  /// over that span.
  struct Steps {
    double sum = 0;
    double area = 0;  ///< quantity x ns
  };
  struct Span {
    Steps queue_bytes;
    Steps rate_bps;
    std::uint32_t packets = 0;
    std::uint32_t drops = 0;
    std::chrono::nanoseconds delay_sum{0};
    std::chrono::nanoseconds delay_max{0};
  };
  struct Direction {
    std::uint64_t rate_bps = 0;
    std::array<Span, kSpansMax> spans{};
  };

  void make_room(std::chrono::nanoseconds until);
  Span& at(Direction& direction, std::chrono::nanoseconds time);
  void add_step(Direction& direction, Steps Span::* quantity, std::chrono::nanoseconds time,
                double step);
  void add_wire_time(Direction& direction, double bits, std::chrono::nanoseconds took,
                     std::chrono::nanoseconds left);

  std::chrono::nanoseconds start_{0};
  std::chrono::nanoseconds width_ = kWidthMin;
  std::size_t used_ = 0;
  Direction down_;
  Direction up_;
};

}  // namespace reprise
