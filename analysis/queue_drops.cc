#include "analysis/queue_drops.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

#include "analysis/verdict.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

constexpr double kMuchLonger = 0.15;  // of the median

std::string whole_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", number);
  return text;
}

}  // namespace

std::string slow_by_drops_text(std::span<const LoadWithDrops> loads) {
  std::vector<double> times;
  for (auto const& load : loads) times.push_back(load.load_event_ms);
  double const usual = median(times);
  std::size_t slow = 0;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (auto const& load : loads) {
    double const longer = load.load_event_ms - usual;
    if (longer < kMuchLonger * usual) continue;
    if (load.queue_drops <= 0) return "";
    ++slow;
    least = std::min(least, longer);
    most = std::max(most, longer);
  }
  if (slow == 0 || 3 * slow > loads.size()) return "";
  return std::to_string(slow) + " of " + counted(loads.size(), "load") + " took " +
         whole_text(least) + (slow == 1 ? "" : " to " + whole_text(most)) +
         " ms longer, and the link's queue dropped packets in " + (slow == 1 ? "it" : "each") +
         ": when the last packets of a response are dropped, it waits for a timeout. A longer "
         "queue has room for them: --link LINK,queue=1000p";
}

}  // namespace reprise
