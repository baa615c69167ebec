#pragma once

// When a response is sent: think time before its heads, pauses in its body. Pure: the input is the
// recording's times, the output times since the request was complete.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"
#include "proxy/replay/response/think_rules.h"

namespace reprise {

/// How long an origin thinks before it answers: from the sending of the request to the first byte
/// of the final head, less one round trip (archive/think_time.h); nothing if unknown.
struct ThinkTime {
  enum class Kind : std::uint8_t { kNone, kFixed, kRecorded };
  Kind kind = Kind::kNone;
  std::chrono::nanoseconds fixed{};  ///< of all exchanges, if kFixed
  double factor = 1;                 ///< multiplies recorded think times, if kRecorded

  /// "none", "recorded", "x0.5" (the recorded ones, halved) or milliseconds: "30", "0.5", "30ms".
  static std::optional<ThinkTime> parse(std::string_view text);
  /// "none", "recorded", "x0.5", "30 ms".
  std::string text() const;
  /// Whether it has no effect without the times of the recording.
  bool needs_recorded() const { return kind == Kind::kRecorded && factor > 0; }
  /// Whether an exchange can have one above 0.
  bool has_any() const { return needs_recorded() || (kind == Kind::kFixed && fixed.count() > 0); }
};

/// Which bodies keep their recorded times.
enum class Pace : std::uint8_t {
  /// Those of media types for streaming; of others, the pauses (Schedule).
  kStreams,
  kAll,   ///< all, with the bandwidth of the recording
  kNone,  ///< none: as fast as possible
};

struct Timing {
  ThinkTime think;
  Pace pace = Pace::kStreams;
  std::shared_ptr<const ThinkRules> rules;  ///< null: none
};

/// The times of the parts of one response.
///
/// A body whose pieces all have times (event streams, or all with Pace::kAll) is sent as recorded,
/// except that pieces less than kTogether apart are merged. In every other body only pauses are
/// kept (archive/think_time.h), and the bytes between them are sent at once: a link's delay must
/// count once, not twice.
struct Schedule {
  static constexpr std::chrono::milliseconds kTogether{1};

  /// By then `end_bytes` of the recorded body are sent.
  struct Step {
    std::uint64_t end_bytes = 0;
    std::chrono::nanoseconds after_head{};
    bool operator==(const Step&) const = default;
  };

  /// For each interim response except 100s, none later than `head`; a shorter draw counts, too.
  std::vector<std::chrono::nanoseconds> interim;
  std::chrono::nanoseconds head{};
  std::shared_ptr<ThinkDraws> draws;  ///< if not null, they count instead of `head`
  /// Of the body, in order; the last one is its end. Empty: the whole body is sent with the head.
  std::vector<Step> steps;
  /// Whether the steps are all pieces of the body, not only the pauses.
  bool piecewise = false;

  /// When a piece that is due at `due` is sent: at the next whole millisecond of the clock, so that
  /// one wake of the thread serves all streams with something due within it.
  static std::chrono::steady_clock::time_point wake_at(std::chrono::steady_clock::time_point due) {
    return std::chrono::ceil<std::chrono::milliseconds>(due);
  }

  /// Whether there is no wait.
  bool is_at_once() const {
    return steps.empty() && draws == nullptr && head == std::chrono::nanoseconds();
  }
};

/// `round_trip` is that to the exchange's origin; nothing if unknown: then it is part of the think
/// time.
Schedule make_schedule(const Exchange& exchange, std::optional<std::chrono::nanoseconds> round_trip,
                       const Timing& timing);

/// The end, in another form, of a step that ends at `end_bytes` of a body of `recorded_bytes`.
/// Added text is near the beginning and is sent with the first piece; a decoded (`scaled`) or
/// shorter form is cut in proportion.
std::uint64_t end_in_form(std::uint64_t end_bytes, std::uint64_t recorded_bytes,
                          std::uint64_t form_bytes, bool scaled);

}  // namespace reprise
