#include "archive/import/har_entry.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "archive/import/collect/http_text.h"
#include "archive/import/har_charset.h"
#include "base/text/white_space.h"

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

/// Whether Firefox wrote a size that the text does not have: a byte order mark is in the size, but
/// not in the text. Only in Firefox's HAR: the size by other tools may be that of the coded body.
bool is_cut_by_firefox(const HarEntry& entry) {
  constexpr std::uint64_t kByteOrderMarkBytes = 3;
  auto const& draft = entry.draft;
  auto const stored = draft.body.stored.size_bytes;
  // The body that is shown with a 304 is that of the cache.
  bool const has_body = draft.status != 0 && draft.status != 304 && stored > 0;
  if (!entry.by_firefox || !has_body) return false;
  if (entry.is_text && can_shrink_as_utf8(charset_of(draft.fields))) return false;
  return entry.content_bytes > static_cast<double>(stored + kByteOrderMarkBytes);
}

/// Text is valid brotli or deflate only by chance, and so is a short body of the size that decoded
/// content has.
bool decodes_by_chance(const HarEntry& entry) {
  auto const* const codings = find_field(entry.draft.fields, "Content-Encoding");
  if (codings == nullptr) return false;
  auto const last = trim(std::string_view(*codings).substr(codings->rfind(',') + 1));
  bool const may_match = equals_ignoring_case(last, "br") || equals_ignoring_case(last, "deflate");
  auto const stored = entry.draft.body.stored.size_bytes;
  if (!may_match || stored == 0) return false;
  bool const has_plain_size = entry.content_bytes == static_cast<double>(stored);
  return entry.is_text || (stored <= CodingCheck::kChanceBytesMax && has_plain_size);
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

bool has_no_status_but_all_else(const HarEntry& entry) {
  bool const has_head = entry.draft.status == 0 && !entry.draft.fields.empty();
  // No cache has a WebSocket.
  bool const is_web_socket = entry.draft.asks_for_web_socket();
  return has_head && !is_web_socket && entry.error.empty() && entry.outcome.empty();
}

void settle_coding(HarEntry& entry, bool by_us) {
  auto& coding = entry.draft.body.coding;
  if (by_us) {
    // Without a look at the body: a decoded .gz file decodes, too.
    coding = entry.was_decoded ? CodingVerdict::kNotCoded : CodingVerdict::kNone;
  } else if (coding == CodingVerdict::kBroken ||
             (coding == CodingVerdict::kDecodes && decodes_by_chance(entry))) {
    coding = CodingVerdict::kNotCoded;
  }
}

bool is_transcoded(const HarEntry& entry) {
  if (entry.is_beyond_ascii) return true;
  bool const has_text = entry.is_text && entry.draft.body.stored.size_bytes > 0;
  return has_text && !extends_ascii(charset_of(entry.draft.fields));
}

void settle_outcome(HarEntry& entry) {
  auto& draft = entry.draft;
  if (draft.status == 0) {
    draft.failure = entry.error.empty() ? "the recording contains no response" : entry.error;
  }
  bool const is_short = draft.body.stored.size_bytes == 0 &&
                        (announces_content(draft.fields) || entry.content_bytes > 0);
  if (draft.status != 0 && !entry.error.empty() && entry.outcome.empty() && is_short) {
    bool const by_client = entry.error.contains("ERR_ABORTED");
    draft.outcome = by_client ? Outcome::kCutByClient : Outcome::kCutByOrigin;
    draft.failure = entry.error;
  }
  if (is_cut_by_firefox(entry)) {
    constexpr double kBytesMax = 1e15;
    entry.is_cut = true;
    draft.outcome = Outcome::kCutByClient;
    draft.failure = "the browser kept only a part of the body";
    auto const whole = static_cast<std::uint64_t>(std::min(entry.content_bytes, kBytesMax));
    for (Field& field : draft.fields) {
      if (equals_ignoring_case(field.name, "Content-Length")) field.value = std::to_string(whole);
    }
  }
  for (auto const cut : {Outcome::kCutByClient, Outcome::kCutByOrigin}) {
    if (entry.outcome != to_string(cut)) continue;
    draft.outcome = cut;
    draft.failure = entry.error;
  }
}

void remark_on(const HarEntry& entry, ImportReport& report) {
  if (entry.from_cache) report.remark("some responses came from the browser's cache");
  if (entry.is_cut) {
    report.remark(
        "Firefox kept only the beginning of some bodies: set devtools.netmonitor.responseBodyLimit "
        "to 0 in about:config, and record again");
  }
}

void settle_connection(HarEntry& entry, bool by_chrome) {
  auto& draft = entry.draft;
  if (!entry.connection_id.empty()) {
    draft.connection = entry.connection_id;
  } else if (by_chrome && draft.connection == std::to_string(draft.url.port)) {
    draft.connection.clear();
  }
}

}  // namespace reprise::importing
