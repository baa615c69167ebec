#include "archive/import/har_entry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reprise::importing {
namespace {

constexpr double kMillisecond = 1e6;
enum : std::uint8_t { kBlocked, kDns, kConnect, kSend, kWait, kReceive, kSsl };

/// When each phase but `ssl` begins, and when the last one ends: ns after the entry's start.
using PhaseStarts = std::array<std::int64_t, kSsl + 1>;

double milliseconds_of(const HarEntry& entry, std::size_t phase) {
  return std::clamp(entry.timings[phase], 0.0, 1e9);
}

/// HAR 1.2 counts `ssl` within `connect`. Firefox counts it as a phase of its own, after `connect`:
/// then `time`, the sum of the phases, contains it. Playwright counts it within `connect`, and once
/// more in `time`.
bool is_ssl_apart(const HarEntry& entry) {
  auto const ssl = milliseconds_of(entry, kSsl);
  if (ssl <= 0 || entry.by_playwright) return false;
  if (entry.time < 0) return entry.by_firefox;
  double others = 0;
  for (std::size_t phase = 0; phase < kSsl; ++phase) others += milliseconds_of(entry, phase);
  return std::abs(others + ssl - entry.time) < std::abs(others - entry.time);
}

PhaseStarts phase_starts(const HarEntry& entry) {
  PhaseStarts starts{};
  bool const ssl_apart = is_ssl_apart(entry);
  double at = 0;
  for (std::size_t phase = 0; phase < kSsl; ++phase) {
    at += milliseconds_of(entry, phase) * kMillisecond;
    if (phase == kConnect && ssl_apart) at += milliseconds_of(entry, kSsl) * kMillisecond;
    starts[phase + 1] = std::llround(at);
  }
  return starts;
}

/// Of an entry whose connection was made for it. Some tools count looking up the name within
/// `connect`: an entry without `dns` has no times. If `ssl` should be a part of `connect` and is
/// not shorter (over HTTP/3 both are one handshake), TLS has no start.
ConnectTimes connect_times(const HarEntry& entry, const PhaseStarts& starts) {
  auto const& timings = entry.timings;
  auto const queued = *entry.draft.queued;
  auto const connect_ns = starts[kSend] - starts[kConnect];
  if (timings[kDns] < 0 || connect_ns == 0 || entry.draft.status == 0) return {};
  ConnectTimes times{.dns_start = queued + starts[kDns],
                     .connect_start = queued + starts[kConnect],
                     .ready = queued + starts[kSend]};
  auto const ssl_ns = std::llround(milliseconds_of(entry, kSsl) * kMillisecond);
  if (ssl_ns > 0 && ssl_ns < connect_ns) times.tls_start = *times.ready - ssl_ns;
  return times;
}

}  // namespace

bool holds_body(const HarEntry& entry) {
  if (entry.lost_text || entry.draft.body.stored.size_bytes > 0) return !entry.lost_text;
  auto const status = entry.draft.status;
  // No browser shows the body of a redirect, and some tools give only its size.
  if (status >= 300 && status < 400) return true;
  if (entry.content_bytes > 0 || entry.body_bytes > 0) return false;
  // For images from its cache Firefox gives neither text nor size.
  bool const is_success = status >= 200 && status < 300;
  return entry.has_text || entry.content_bytes == 0 || entry.body_bytes == 0 || !is_success;
}

void set_times(HarEntry& entry) {
  auto& draft = entry.draft;
  if (!draft.queued) return;
  auto const starts = phase_starts(entry);
  draft.connect = connect_times(entry, starts);
  for (auto const& [phase, end] :
       {std::pair(kSend, &draft.request_sent), std::pair(kWait, &draft.first_byte),
        std::pair(kReceive, &draft.end)}) {
    if (entry.timings[phase] >= 0) *end = *draft.queued + starts[phase + 1];
  }
  // Without a response there was no first byte.
  if (draft.status == 0) draft.end = std::exchange(draft.first_byte, std::nullopt);
}

}  // namespace reprise::importing
