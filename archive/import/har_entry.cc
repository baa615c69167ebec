#include "archive/import/har_entry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reprise::importing {
namespace {

constexpr double kMillisecond = 1e6;
enum : std::uint8_t { kBlocked, kDns, kConnect, kSend, kWait, kReceive, kSsl };

/// Of an entry whose connection was made for it. Some tools count looking up the name within
/// `connect`: an entry without `dns` has no times. HAR 1.2 counts `ssl` within `connect`; some
/// tools count it in addition, and over HTTP/3 both are one handshake: then TLS has no start.
ConnectTimes connect_times(const HarEntry& entry) {
  auto const ms = [&entry](std::size_t which) { return std::min(entry.timings[which], 1e9); };
  if (ms(kDns) < 0 || ms(kConnect) <= 0 || entry.draft.status == 0) return {};
  auto const after = [&](double time) {
    return *entry.draft.queued + std::llround(time * kMillisecond);
  };
  auto const dns_start = std::max(ms(kBlocked), 0.0);
  auto const start = dns_start + ms(kDns);
  auto const end = start + ms(kConnect);
  ConnectTimes times{
      .dns_start = after(dns_start), .connect_start = after(start), .ready = after(end)};
  if (ms(kSsl) > 0 && ms(kSsl) < ms(kConnect)) times.tls_start = after(end - ms(kSsl));
  return times;
}

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
  draft.connect = connect_times(entry);
  double at = 0;
  std::array<UnixTime*, kSsl> const points = {
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
