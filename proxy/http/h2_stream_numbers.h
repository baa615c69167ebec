#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace reprise {

/// Tells a stream that was used before from one whose number was passed over, which a client must
/// not come back to (RFC 9113 section 5.1.1); nghttp2 ignores both.
class H2StreamNumbers {
 public:
  /// Gaps that are remembered. Clients leave none; what comes back to a forgotten one is ignored.
  static constexpr std::size_t kGapsMax = 64;

  /// For each HEADERS frame, its stream. False if that number was passed over.
  bool accept(std::int32_t id) {
    if (id > last_) {
      auto const first_skipped = last_ + 2;
      if (id > first_skipped && gaps_.size() < kGapsMax) gaps_.emplace_back(first_skipped, id);
      last_ = id;
      return true;
    }
    return std::ranges::none_of(
        gaps_, [id](auto const& gap) { return id >= gap.first && id < gap.second; });
  }

 private:
  std::int32_t last_ = -1;                                   // so that 1 is the next
  std::vector<std::pair<std::int32_t, std::int32_t>> gaps_;  // from, and up to without
};

}  // namespace reprise
