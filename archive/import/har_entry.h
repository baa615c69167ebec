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
  bool is_url_cut = false;  ///< only its beginning was read
  std::string error;
  std::string outcome;
  std::string connection_id;  ///< Chrome's; then its `connection` is a port
  bool from_cache = false;
  bool has_fields = false;       ///< of the response: some tools write its content first
  bool has_text = false;         ///< of the response: a body, possibly empty
  bool lost_text = false;        ///< it is unreadable
  bool is_text = false;          ///< it came as text: not as base64, and not as a file
  bool is_beyond_ascii = false;  ///< the same, with other characters
  bool is_cut = false;           ///< the browser kept only its beginning
  bool was_decoded = false;      ///< its content coding was undone
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

/// Firefox has no status for responses from its cache, though all other data.
bool has_no_status_but_all_else(const HarEntry& entry);

/// A HAR's bodies are decoded: a Content-Encoding that does not match the body, or matches it by
/// chance, is a leftover. Our own export (`by_us`) says which it could decode.
void settle_coding(HarEntry& entry, bool by_us);

/// Whether the body is in UTF-8, whatever its charset was.
bool is_transcoded(const HarEntry& entry);

/// How it ended, if not well. Chrome has the error of a response that broke off after its head.
/// Firefox keeps at most 1 MiB of a body (devtools.netmonitor.responseBodyLimit), and the length of
/// all of it: the Content-Length becomes that length, which it was without a coding.
void settle_outcome(HarEntry& entry);

/// What users should know of the entry's recording. After settle_outcome().
void remark_on(const HarEntry& entry, ImportReport& report);

/// The text that exchanges of one connection share; `by_chrome`: its `connection` is a port.
void settle_connection(HarEntry& entry, bool by_chrome);

}  // namespace reprise::importing
