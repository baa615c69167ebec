#pragma once

#include <array>
#include <string>
#include <string_view>

#include "archive/import/collect/collector.h"

namespace reprise::importing {

inline constexpr std::array<std::string_view, 7> kHarTimings = {
    "blocked", "dns", "connect", "send", "wait", "receive", "ssl"};

/// One entry of a HAR during parsing.
struct HarEntry {
  ExchangeDraft draft;
  std::string url;
  std::string error;
  std::string outcome;
  bool from_cache = false;
  bool has_fields = false;  ///< of the response: some tools write its content first
  bool has_text = false;    ///< of the response: a body, possibly empty
  bool lost_text = false;   ///< it is unreadable
  bool transcoded = false;  ///< it is in UTF-8, whatever its charset was
  std::array<double, kHarTimings.size()> timings = {-1, -1, -1, -1, -1, -1, -1};  ///< in ms
  double time = -1;            ///< of all phases, in ms
  bool by_firefox = false;     ///< Firefox wrote the HAR
  bool by_playwright = false;  ///< Playwright did
  double content_bytes = -1;
  double body_bytes = -1;  ///< of the response, on the wire
};

/// Whether the recording has the response's body, possibly empty.
bool holds_body(const HarEntry& entry);

/// Sets the times of the exchange, and of the connection that was made for it, from its start and
/// the entry's timings.
void set_times(HarEntry& entry);

}  // namespace reprise::importing
