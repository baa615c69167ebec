#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace reprise {

/// Measures how long something has waited for a peer without progress. Call it about once a second.
class StandStill {
 public:
  using Clock = std::chrono::steady_clock;

  /// `moved`: the progress, in any unit; nullopt: it does not wait for the peer.
  bool lasts_over(Clock::duration patience, std::optional<std::uint64_t> moved,
                  Clock::time_point now) {
    if (!moved || moved != moved_) {
      moved_ = moved;
      since_ = now;
    }
    return now - since_ > patience;
  }

 private:
  std::optional<std::uint64_t> moved_;
  Clock::time_point since_;
};

}  // namespace reprise
