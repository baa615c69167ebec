#pragma once

// When a response goes out: think time before its heads, pauses inside its body. Pure: the times of
// the recording in, times since the moment when the request was whole out.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"

namespace reprise {

/// How long an origin thinks before it answers: from the request having been sent to the first byte
/// of the final head, less one round trip (archive/think_time.h); nothing where it is not known.
struct ThinkTime {
  enum class Kind : std::uint8_t { kNone, kFixed, kRecorded };
  Kind kind = Kind::kNone;
  std::chrono::nanoseconds fixed{};  ///< of every exchange, kFixed
  double factor = 1;                 ///< by which the recorded ones are multiplied, kRecorded

  /// "none", "recorded", "x0.5" (the recorded ones, halved) or milliseconds: "30", "0.5", "30ms".
  static std::optional<ThinkTime> parse(std::string_view text);
  /// "none", "recorded", "x0.5", "30 ms".
  std::string text() const;
};

/// Whose bodies come as they came.
enum class Pace : std::uint8_t {
  /// Those of media types that are made for streaming, and of others the pauses (Schedule).
  kStreams,
  kAll,   ///< all, with the bandwidth of whoever recorded them
  kNone,  ///< none: as fast as they can
};

struct Timing {
  ThinkTime think;
  Pace pace = Pace::kStreams;
};

/// When the parts of one response are due.
///
/// A body of which every piece has its time (event streams, or all with Pace::kAll) comes as it was
/// recorded, but that pieces less than kTogether apart are one. Of every other body only pauses are
/// kept, and what is between them comes at once: a link is charged for once, not twice. A pause is
/// what no link makes, a gap of more than kPauseMin and two round trips (one lost packet costs
/// 200 ms and one) that comes when less than kWindowBytes were sent since the one before, so that
/// neither a client that did not read nor a window that was full made it.
struct Schedule {
  static constexpr std::chrono::milliseconds kTogether{1};
  static constexpr std::chrono::milliseconds kPauseMin{300};
  static constexpr std::uint64_t kWindowBytes = 64 << 10;

  /// `end_bytes` of the recorded body are sent by then.
  struct Step {
    std::uint64_t end_bytes = 0;
    std::chrono::nanoseconds after_head{};
    bool operator==(const Step&) const = default;
  };

  /// Of each interim response but 100s, none later than the final head.
  std::vector<std::chrono::nanoseconds> interim;
  std::chrono::nanoseconds head{};
  /// Of the body, in order; the last one is its end. Empty: all of it comes with the head.
  std::vector<Step> steps;

  /// Whether nothing is waited for.
  bool is_at_once() const { return steps.empty() && head == std::chrono::nanoseconds(); }
};

/// `round_trip` is that to the exchange's origin, nothing where it is unknown: then it is in the
/// think time.
Schedule make_schedule(const Exchange& exchange, std::optional<std::chrono::nanoseconds> round_trip,
                       const Timing& timing);

/// Where a step that ends at `end_bytes` of a body of `recorded_bytes` ends in another form of it.
/// What a form adds stands near its beginning and goes out with the first piece; one that was
/// decoded (`scaled`) or is shorter is cut in proportion.
std::uint64_t end_in_form(std::uint64_t end_bytes, std::uint64_t recorded_bytes,
                          std::uint64_t form_bytes, bool scaled);

}  // namespace reprise
