#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace reprise {

// Types of queries, as numbered in DNS.
inline constexpr std::uint16_t kQueryA = 1;
inline constexpr std::uint16_t kQueryAaaa = 28;
inline constexpr std::uint16_t kQueryHttps = 65;

/// How long a client that has addresses of one family waits for the other (RFC 8305 section 3).
inline constexpr std::chrono::milliseconds kOtherFamilyWait{50};

/// How long a client waits for the answers about a name, by the type of the query.
struct LookupTimes {
  std::chrono::nanoseconds a{};
  std::chrono::nanoseconds aaaa{};
  std::chrono::nanoseconds https{};

  static LookupTimes all(std::chrono::nanoseconds time) { return {time, time, time}; }

  /// `type` is the number in DNS; of types without a time of their own the shortest.
  std::chrono::nanoseconds of(std::uint16_t type) const {
    if (type == kQueryA) return a;
    if (type == kQueryAaaa) return aaaa;
    return type == kQueryHttps ? https : std::min({a, aaaa, https});
  }
  /// Until the addresses are known.
  std::chrono::nanoseconds of_addresses() const { return std::max(a, aaaa); }
  bool has_any() const { return *this != LookupTimes(); }
  LookupTimes& operator+=(std::chrono::nanoseconds more) {
    a += more;
    aaaa += more;
    https += more;
    return *this;
  }
  bool operator==(const LookupTimes&) const = default;
};

}  // namespace reprise
