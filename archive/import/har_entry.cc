#include "archive/import/har_entry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reprise::importing {
namespace {

constexpr double kMillisecond = 1e6;

}  // namespace

bool holds_body(const HarEntry& entry) {
  if (entry.lost_text || entry.draft.body.stored.size_bytes > 0) return !entry.lost_text;
  if (entry.content_bytes > 0 || entry.body_bytes > 0) return false;
  // For images from its cache Firefox gives neither text nor size.
  bool const is_success = entry.draft.status >= 200 && entry.draft.status < 300;
  return entry.has_text || entry.content_bytes == 0 || entry.body_bytes == 0 || !is_success;
}

void set_times(HarEntry& entry) {
  auto& draft = entry.draft;
  if (!draft.queued) return;
  double at = 0;
  std::array<UnixTime*, kHarTimings.size()> const points = {
      nullptr, nullptr, nullptr, &draft.request_sent, &draft.first_byte, &draft.end};
  for (std::size_t i = 0; i < points.size(); ++i) {
    at += std::clamp(entry.timings[i], 0.0, 1e9) * kMillisecond;
    if (points[i] != nullptr && entry.timings[i] >= 0) {
      *points[i] = *draft.queued + std::llround(at);
    }
  }
  // Without a response there was no first byte.
  if (draft.status == 0) draft.end = std::exchange(draft.first_byte, std::nullopt);
}

}  // namespace reprise::importing
