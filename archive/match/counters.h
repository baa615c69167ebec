#pragma once

// Parameters that number requests instead of choosing a response: MATCHING.md. Pure.

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace reprise {

/// A parameter, and its value as a number.
struct Count {
  static constexpr std::uint32_t kNone = UINT32_MAX;  ///< not a number, or more than 8 digits
  std::uint32_t name = 0;                             ///< name_of() its feature
  std::uint32_t value = kNone;
};
/// The number in `text`, or kNone.
std::uint32_t count_of(std::string_view text);

/// One exchange as input for counters.
struct CountedExchange {
  std::uint64_t site = 0;    ///< scheme and host, in any session
  std::uint64_t family = 0;  ///< family_hash()
  std::uint32_t session = 0;
  std::chrono::nanoseconds time{};  ///< of the request, within the session
  std::span<const Count> counts;    ///< for each of its parameters
};

/// Names that count through several paths of a site: at least kSiteCountsMin values in one session,
/// each above the previous one, with values of other paths between.
class SiteCounters {
 public:
  static constexpr std::uint32_t kSiteCountsMin = 4;

  /// `exchanges` of all sessions, in recorded order.
  explicit SiteCounters(std::span<const CountedExchange> exchanges);
  bool has(std::uint64_t site, std::uint32_t name) const;

 private:
  std::unordered_set<std::uint64_t> names_;
};

/// The names in one family, in recorded order, whose other value does not mean that they select:
/// those in `site`, those that count the milliseconds between requests, and those with at most two
/// values per session, the second above the first. Ascending.
std::vector<std::uint32_t> counters_in(std::span<const CountedExchange> family,
                                       const SiteCounters& site);

}  // namespace reprise
