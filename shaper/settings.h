#pragma once

// The settings of one direction of a link. Plain values; profile.h parses them.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

class Trace;

/// The limits of a link's settings. A number beyond them is a mistake, or costs too much memory.
inline constexpr std::uint64_t kRateMaxBps = 1'000'000'000'000;
inline constexpr std::chrono::nanoseconds kDelayMax = std::chrono::hours(1);
inline constexpr std::uint32_t kPacketBytesMax = 65'535;
inline constexpr std::uint32_t kQueuePacketsMax = 1U << 20;
inline constexpr std::uint64_t kQueueBytesMax = 1ULL << 32;
inline constexpr std::uint32_t kBurstBytesMax = 1U << 30;
inline constexpr std::size_t kOutagesMax = 1000;
inline constexpr std::chrono::nanoseconds kOutageTimeMax = std::chrono::days(365);
/// The packet size for default queues and bursts.
inline constexpr std::uint32_t kMtuBytes = 1500;
inline constexpr std::uint32_t kQueuePacketsDefault = 100;

/// Gilbert-Elliott: two states, each with its own loss rate; the state may change after every
/// packet. Bernoulli loss is the good state alone. All are probabilities, 0 to 1.
struct LossModel {
  double in_good = 0;      ///< 1-k: lost while good; plain random loss
  double good_to_bad = 0;  ///< p
  double bad_to_good = 1;  ///< r
  double in_bad = 1;       ///< 1-h: lost while bad

  bool operator==(const LossModel&) const = default;
};

/// The limit of packets that wait for serialisation; the packet on the wire and packets in
/// propagation do not count. 0: no limit of that kind; a packet must fit both.
struct QueueLimit {
  std::uint32_t packets = kQueuePacketsDefault;
  std::uint64_t bytes = 0;

  bool operator==(const QueueLimit&) const = default;
};

enum class QueueDiscipline : std::uint8_t {
  drop_tail,
  codel,  ///< RFC 8289, drops as packets leave the queue
  pie,    ///< RFC 8033, drops as packets arrive
};

/// `target` is CoDel's TARGET or PIE's QDELAY_REF; `interval` CoDel's INTERVAL or PIE's T_UPDATE.
/// Zero: the RFC's value.
struct ActiveQueue {
  QueueDiscipline discipline = QueueDiscipline::drop_tail;
  std::chrono::nanoseconds target{0};
  std::chrono::nanoseconds interval{0};

  bool operator==(const ActiveQueue&) const = default;
};

/// When the link is off, from the link's start: [from, to) each, in order, without overlap. Packets
/// that arrive meanwhile are dropped, the wire stops, propagation continues.
struct Outages {
  struct Interval {
    std::chrono::nanoseconds from;
    std::chrono::nanoseconds to;

    bool operator==(const Interval&) const = default;
  };
  std::vector<Interval> off;           ///< at most kOutagesMax
  std::chrono::nanoseconds repeat{0};  ///< 0: once; otherwise at or after the last `to`

  bool operator==(const Outages&) const = default;
};

/// One direction of a link.
struct LinkSettings {
  std::uint64_t rate_bps = 0;          ///< of IP bytes; 0: unlimited; at most kRateMaxBps
  std::shared_ptr<const Trace> trace;  ///< instead of rate_bps; shared, since it is large
  std::chrono::nanoseconds delay{0};   ///< propagation, after serialisation
  std::chrono::nanoseconds jitter{0};  ///< added to delay: uniform in [0, jitter]
  bool reorder = false;                ///< whether jitter may let packets overtake
  /// Bytes that may pass at once after idle time. 0: plain serialisation; every packet takes its
  /// size divided by the rate.
  std::uint32_t burst_bytes = 0;
  QueueLimit queue;
  ActiveQueue active_queue;
  LossModel loss;
  Outages outages;  ///< not with a trace, which has its own gaps

  /// Whether a seed decides what becomes of packets.
  bool has_chance() const {
    return loss.in_good > 0 || loss.good_to_bad > 0 || jitter > std::chrono::nanoseconds(0) ||
           active_queue.discipline == QueueDiscipline::pie;
  }
  /// Traces are the same if they deliver at the same times.
  bool operator==(const LinkSettings& other) const;
};

/// The rate of the wire, of a trace its mean, at least 1 bit/s; 0: unlimited.
std::uint64_t mean_rate_bps(const LinkSettings& settings);

/// The error in `settings`, as a sentence; nothing if they are valid for a Link.
std::optional<std::string> defect_of(const LinkSettings& settings);

}  // namespace reprise
