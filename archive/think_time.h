#pragma once

// How long origins and resolvers took to answer, and origins paused, from a recording's times.
// Pure.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "archive/reader.h"
#include "base/lookup_times.h"

namespace reprise {

/// The maximum of all think times, recorded or requested.
inline constexpr std::chrono::hours kThinkTimeMax{24};

/// "30", "0.5", "30ms": milliseconds, at most kThinkTimeMax. Nothing for other texts.
std::optional<std::chrono::nanoseconds> parse_milliseconds(std::string_view text);
/// "x0.5": a factor, at most 1000. Nothing for other texts.
std::optional<double> parse_factor(std::string_view text);

/// `time`, which is not negative, times `factor`; at most kThinkTimeMax.
std::chrono::nanoseconds multiplied(std::chrono::nanoseconds time, double factor);
/// From one time to a later one, at most kThinkTimeMax; nothing if one is unknown, or they are in
/// the wrong order. Times in a file can have any value.
std::chrono::nanoseconds time_between(SessionTime from, SessionTime to);
/// How long an origin takes until it sends something `at`: since the request was sent, less one
/// round trip. Never negative.
std::chrono::nanoseconds think_time_until(SessionTime at, const Timings& timings,
                                          std::optional<std::chrono::nanoseconds> round_trip);

/// How long a packet to that address and its answer took: as TCP measured it, else as long as its
/// handshake took, which is longer on a busy machine. Nothing if its times are unknown.
std::optional<std::chrono::nanoseconds> round_trip_of(const ConnectionFacts& facts);

/// The pauses of one body. A pause is a gap that no link causes: more than kMin and two round trips
/// (one lost packet costs 200 ms and one), with less than kWindowBytes since the previous one, so
/// that neither a client that did not read nor a full window caused it.
class BodyPauses {
 public:
  static constexpr std::chrono::milliseconds kMin{300};
  static constexpr std::uint64_t kWindowBytes = 64 << 10;

  explicit BodyPauses(std::optional<std::chrono::nanoseconds> round_trip)
      : min_(kMin + 2 * round_trip.value_or(std::chrono::nanoseconds())) {}

  /// A gap after so many bytes, in order.
  void add(std::chrono::nanoseconds gap, std::uint64_t sent_bytes) {
    if (gap <= min_ || sent_bytes - at_bytes_ >= kWindowBytes) return;
    total_ += gap;
    at_bytes_ = sent_bytes;
  }
  std::chrono::nanoseconds total() const { return total_; }

 private:
  std::chrono::nanoseconds min_;
  std::chrono::nanoseconds total_{};
  std::uint64_t at_bytes_ = 0;
};

/// The sum of the pauses of a complete response; nothing if its times are unknown.
std::chrono::nanoseconds pauses_of(const Exchange& exchange,
                                   std::optional<std::chrono::nanoseconds> round_trip);

/// How long looking up each host's name took in a session.
///
/// - Each type takes as long as the longest of its queries. One that no server answered counts only
///   if none of that type was answered.
/// - Once the recorder had addresses of one family, it waited for the other for kOtherFamilyWait:
///   A takes at most that much longer than AAAA, and the reverse.
///   HTTPS that got no answer takes at most as long as the addresses.
/// - A type without any query, or whose query was given up, takes as long as the shortest other.
/// - The types of a host without any query, as in imports, take as long as the longest time before
///   one of its connections.
///
/// Hosts without such times are skipped.
std::map<std::string, LookupTimes, std::less<>> lookup_times(const ArchiveReader& archive,
                                                             std::uint32_t session);

/// The round trips of an archive. Immutable, so thread-safe.
class RoundTrips {
 public:
  explicit RoundTrips(const ArchiveReader& archive);

  /// The round trip to the exchange's origin: the shortest of its session to the address that
  /// answered, as a handshake can lose a packet; if unknown, to the host; otherwise the shortest of
  /// all, as nothing is nearer than that. Nothing if no connection of the session has times, as in
  /// most imports.
  std::optional<std::chrono::nanoseconds> to_origin_of(const Exchange& exchange) const;

 private:
  struct Session {
    std::unordered_map<std::uint64_t, std::string> addresses;  // by connection, without port
    std::map<std::string, std::chrono::nanoseconds, std::less<>> to_address;
    std::map<std::string, std::chrono::nanoseconds, std::less<>> to_host;
    std::optional<std::chrono::nanoseconds> least;
  };
  std::map<std::uint32_t, Session> sessions_;
};

}  // namespace reprise
