#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace reprise {

/// Why an answer is not simply what was recorded.
enum class Special : std::uint8_t {
  kPreflight,  ///< made up of what the recorded request that it precedes allows
  kBrowser,    ///< a request of the browser's own, not of a page
  kCut,        ///< as far as it went when it was recorded
  kFailed,     ///< not at all, as when it was recorded
  kStitched,   ///< from several recorded parts
};
inline constexpr std::size_t kSpecials = 5;
std::string_view to_string(Special special);
/// "2 synthesised preflights", for users.
std::string describe(Special special, std::uint64_t count);

/// Requests of one kind, method and URL that were answered so.
struct SpecialAnswer {
  Special special = Special::kPreflight;
  std::string method;
  std::string url;
  std::uint64_t count = 0;
  std::string why;  ///< of the first
};

using SpecialCounts = std::array<std::uint64_t, kSpecials>;

/// Counts and lists them. Thread-safe.
class SpecialAnswers {
 public:
  static constexpr std::size_t kDistinctMax = 10'000;

  /// Texts are kept as they are given.
  void add(Special special, std::string method, std::string url, std::string why);
  void reset();
  SpecialCounts counts() const;
  /// In order of appearance, at most kDistinctMax.
  std::vector<SpecialAnswer> list() const;

 private:
  mutable std::mutex mutex_;  // what is special is rare
  SpecialCounts counts_{};
  std::vector<SpecialAnswer> distinct_;
  std::unordered_map<std::string, std::size_t> positions_;
};

}  // namespace reprise
