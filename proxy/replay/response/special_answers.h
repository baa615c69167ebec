#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace reprise {

/// Why an answer differs from the recorded one.
enum class Special : std::uint8_t {
  kPreflight,  ///< made from what the recorded actual request allows
  kBrowser,    ///< the browser's own request, not a page's
  kCut,        ///< cut where the recording was cut
  kFailed,     ///< failed as in the recording
  kStitched,   ///< from several recorded parts
};
inline constexpr std::size_t kSpecials = 5;
std::string_view to_string(Special special);
/// "2 synthesised preflights", for users.
std::string describe(Special special, std::uint64_t count);

/// Requests of one kind, method and URL with such an answer.
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

  /// Texts are stored unchanged.
  void add(Special special, std::string method, std::string url, std::string why);
  void reset();
  SpecialCounts counts() const;
  /// In order of appearance, at most kDistinctMax.
  std::vector<SpecialAnswer> list() const;

 private:
  mutable std::mutex mutex_;  // special answers are rare
  SpecialCounts counts_{};
  std::vector<SpecialAnswer> distinct_;
  std::unordered_map<std::string, std::size_t> positions_;
};

}  // namespace reprise
