#include "pageload/browser/page_times.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace reprise {
namespace {

bool has_load_event(const PageRequest& request) {
  static constexpr std::array<std::string_view, 5> kWithout = {
      "Preflight", "Ping", "CSPViolationReport", "WebSocket", "EventSource"};
  return request.end_ms >= 0 && request.failure.empty() &&
         std::ranges::find(kWithout, request.resource_type) == kWithout.end();
}

}  // namespace

std::optional<double> last_load_ms(const PageLoad& load) {
  if (!load.load_event_ms) return std::nullopt;
  std::vector<double> ends;
  for (const PageRequest& request : load.requests) {
    if (has_load_event(request)) ends.push_back(request.end_ms);
  }
  std::ranges::sort(ends);
  double last = *load.load_event_ms;
  for (double const end : ends) {
    if (end > last + kLastLoadGapMs) break;
    last = std::max(last, end);
  }
  return last;
}

double cumulative_layout_shift(std::span<const LayoutShift> shifts) {
  double largest = 0;
  double sum = 0;
  double first_s = 0;
  double before_s = 0;
  for (const LayoutShift& shift : shifts) {
    bool const same_window = sum > 0 && shift.at_s - before_s < 1 && shift.at_s - first_s < 5;
    if (!same_window) {
      sum = 0;
      first_s = shift.at_s;
    }
    sum += shift.value;
    before_s = shift.at_s;
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace reprise
