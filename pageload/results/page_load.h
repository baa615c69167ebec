#pragma once

// One load of one page: the browser's view, and what the replay that served it knows better.
// RESULTS.md describes the fields in a file.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/machine_sample.h"

namespace reprise {

/// The phases of a request in the browser's network code, in ms as in PageRequest; -1 if a phase
/// did not occur (a reused connection) or is unknown.
struct RequestTiming {
  double dns_start_ms = -1;
  double dns_end_ms = -1;
  double connect_start_ms = -1;
  double tls_start_ms = -1;
  double connect_end_ms = -1;  ///< including TLS
  double send_start_ms = -1;
  double send_end_ms = -1;
  double first_byte_ms = -1;  ///< of the head
};

/// All of its fields, in the order of time.
struct RequestTime {
  std::string_view name;
  double RequestTiming::* at_ms;
};
inline constexpr std::array<RequestTime, 8> kRequestTimes = {{
    {"dns_start_ms", &RequestTiming::dns_start_ms},
    {"dns_end_ms", &RequestTiming::dns_end_ms},
    {"connect_start_ms", &RequestTiming::connect_start_ms},
    {"tls_start_ms", &RequestTiming::tls_start_ms},
    {"connect_end_ms", &RequestTiming::connect_end_ms},
    {"send_start_ms", &RequestTiming::send_start_ms},
    {"send_end_ms", &RequestTiming::send_end_ms},
    {"first_byte_ms", &RequestTiming::first_byte_ms},
}};

/// One request of a page as seen by the browser, in the order of sending. Each hop of a redirect is
/// a separate request. Only http, https, ws and wss: data: and blob: URLs use no network. Requests
/// of frames and workers are included.
struct PageRequest {
  std::string url;
  std::string method;
  std::string resource_type;   ///< DevTools' Network.ResourceType: "Document", "Image", ...
  int status = 0;              ///< as on the wire; 0 if there was no response
  std::string protocol;        ///< ALPN id as nextHopProtocol shows it: "http/1.1", "h2"
  std::string remote_address;  ///< "127.0.0.1:8443"; not known over BiDi
  std::string mime_type;
  std::string failure;  ///< net::ERR_... or NS_ERROR_..., empty if it loaded
  bool from_cache = false;
  std::int64_t encoded_bytes = 0;  ///< on the wire: head and coded body
  std::int64_t decoded_bytes = 0;  ///< of the body, as the page gets it
  std::int64_t connection = -1;    ///< the browser's number; -1: unknown
  std::string initiator;           ///< URL of its initiator; empty: the browser, or unknown
  std::string priority;            ///< the browser's final priority; empty: unknown
  /// Of the decoded body, hex; nothing if there is no body. The browser returns text as characters,
  /// so text in another charset is hashed as UTF-8 without byte order mark: compare it only with
  /// another such digest.
  std::optional<std::string> body_sha256;
  std::string request_body_sha256;      ///< hex, empty if there was no body
  double start_ms = 0;                  ///< since navigation start; -1: unknown
  double response_ms = -1;              ///< head received; -1 never
  double end_ms = -1;                   ///< -1 never
  std::optional<RequestTiming> timing;  ///< nothing unless the network answered
};

/// kUnknown: the file has no outcome, or one of a later version.
enum class LoadOutcome {
  kLoaded,
  kTimedOut,
  kNavigationFailed,
  kBrowserDied,
  kNotInArchive,
  kUnknown
};
/// As in a file; empty for kUnknown.
std::string_view to_string(LoadOutcome outcome);
LoadOutcome load_outcome(std::string_view name);

struct PageLoad {
  LoadOutcome outcome = LoadOutcome::kLoaded;
  std::string failure;  ///< one sentence for users, empty if loaded
  std::string url;
  std::string final_url;
  std::vector<PageRequest> requests;
  double started_unix_ms = 0;  ///< start of the navigation, by this machine's clock

  // The metrics, each in kMetrics (metric.h). Nothing if it did not occur or is unknown. Times are
  // ms since the request for the first document.
  std::optional<double> dom_content_loaded_ms;
  std::optional<double> load_event_ms;
  std::optional<double> first_paint_ms;
  std::optional<double> first_contentful_paint_ms;
  std::optional<double> largest_contentful_paint_ms;
  std::optional<double> cumulative_layout_shift;
  std::optional<double> last_resource_ms;  ///< end of the last request that ended
  std::optional<double> last_load_ms;      ///< the Last Load Time
  std::optional<double> encoded_bytes;     ///< computed by sum_up(), like the next two
  std::optional<double> request_count;
  std::optional<double> connection_count;  ///< nothing if the browser does not report connections
  std::optional<double> hits;              ///< like the next one, from the replay that served it
  std::optional<double> misses;

  /// Of the image that the largest contentful paint was; empty: text. Nothing: unknown.
  std::optional<std::string> largest_contentful_paint_url;
  /// Of document.documentElement.outerHTML when quiet, hex; nothing if it was not read.
  std::optional<std::string> dom_sha256;
  std::optional<std::string> dom;           ///< the text itself, if it is kept
  std::vector<std::string> console_errors;  ///< console.error and uncaught exceptions
  std::uint64_t requests_not_kept = 0;      ///< beyond the limit of PageRecord
  std::vector<std::string>
      remarks;  ///< data that could not be collected and why, one sentence each
  /// The browser's own requests, as the replay saw them: "GET http://...", "DNS a.test". Nothing
  /// without a replay.
  std::optional<std::vector<std::string>> browser_requests;
  /// Files about this load that were asked for, and why each cannot be written: "a.png cannot be
  /// written: No space left on device". Not kept in a file.
  std::vector<std::string> unwritten_files;
  std::string trace;  ///< the file with the browser's trace, as `--trace` named it; empty: none
  /// What the machine did from the navigation to the load event, or until it was given up. Its
  /// own_ms are of browser and replay.
  std::optional<MachineActivity> machine;
  /// What late packets can have cost at most in that time; nothing if unknown.
  std::optional<double> lateness_ms;
};

/// The status of the page's document after all redirects, also those of scripts; 0: it has no
/// response, or is unknown.
int document_status(const PageLoad& load);

/// Why it did not load: its failure, or else the name of its outcome.
std::string why_not_loaded(const PageLoad& load);

/// Sets the values that follow from requests and DOM, unless they are set: the counts of requests,
/// bytes and connections, and the DOM's digest.
void sum_up(PageLoad& load);

}  // namespace reprise
