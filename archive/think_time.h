#pragma once

// How long an origin took to answer, as a recording tells. Pure.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "archive/reader.h"

namespace reprise {

/// No think time, recorded or asked for, is longer.
inline constexpr std::chrono::hours kThinkTimeMax{24};

/// "30", "0.5", "30ms": milliseconds, at most kThinkTimeMax. Nothing for other texts.
std::optional<std::chrono::nanoseconds> parse_milliseconds(std::string_view text);
/// "x0.5": by what something is multiplied, at most 1000. Nothing for other texts.
std::optional<double> parse_factor(std::string_view text);

/// `time`, which is not negative, times `factor`; at most kThinkTimeMax.
std::chrono::nanoseconds multiplied(std::chrono::nanoseconds time, double factor);
/// From one time to a later one, at most kThinkTimeMax; nothing where one is unknown, or they are
/// the other way round. Times of a file may be anything.
std::chrono::nanoseconds time_between(SessionTime from, SessionTime to);
/// What an origin takes until something goes out `at`: from the request having been sent, less one
/// round trip. Never negative.
std::chrono::nanoseconds think_time_until(SessionTime at, const Timings& timings,
                                          std::optional<std::chrono::nanoseconds> round_trip);

/// How long a packet to that address and its answer took, as TCP's handshake tells. Nothing where
/// its times are not known.
std::optional<std::chrono::nanoseconds> round_trip_of(const ConnectionFacts& facts);

/// The round trips of an archive. Immutable, so thread-safe.
class RoundTrips {
 public:
  explicit RoundTrips(const ArchiveReader& archive);

  /// That of the exchange's origin: the least of its session to the address that answered, as a
  /// handshake may have lost a packet; where that is not known, to the host; else the least of all,
  /// as nothing is nearer than that. Nothing when no connection of the session has its times: of an
  /// import.
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
