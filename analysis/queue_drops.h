#pragma once

// Loads that took much longer than the others because the link's queue dropped the last packets of
// a response: a cause that more loads do not remove. Pure.

#include <span>
#include <string>

namespace reprise {

struct LoadWithDrops {
  double load_event_ms = 0;
  /// Packets for which the link's queue had no room meanwhile.
  double queue_drops = 0;
};

/// "4 of 24 loads took 850 to 890 ms longer, and the link's queue dropped packets in each: ...",
/// with what helps. Empty if no load is slow, if one of the slow ones has another cause, or if
/// there are too many to be outliers.
std::string slow_by_drops_text(std::span<const LoadWithDrops> loads);

}  // namespace reprise
