#pragma once

// One load of one page: what the browser saw, and what the replay that served it knows better. Its
// fields as they stand in a file: RESULTS.md.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/machine_sample.h"

namespace reprise {

/// The phases of a request that the browser's network tells of, in ms as in PageRequest; -1 where
/// there was none (a connection that stood already) or it is not known.
struct RequestTiming {
  double dns_start_ms = -1;
  double dns_end_ms = -1;
  double connect_start_ms = -1;
  double tls_start_ms = -1;
  double connect_end_ms = -1;  ///< that of TLS, too
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

/// One request of a page as the browser saw it, in the order the requests were sent. Each hop of a
/// redirect is a request of its own. Only http, https, ws and wss: data: and blob: URLs reach no
/// network. Requests of frames and workers are among them.
struct PageRequest {
  std::string url;
  std::string method;
  std::string resource_type;   ///< DevTools' Network.ResourceType: "Document", "Image", ...
  int status = 0;              ///< as on the wire; 0 when there was no response
  std::string protocol;        ///< ALPN id as nextHopProtocol shows it: "http/1.1", "h2"
  std::string remote_address;  ///< "127.0.0.1:8443"; BiDi does not tell
  std::string mime_type;
  std::string failure;  ///< net::ERR_... or NS_ERROR_..., empty when it loaded
  bool from_cache = false;
  std::int64_t encoded_bytes = 0;  ///< on the wire: head and coded body
  std::int64_t decoded_bytes = 0;  ///< of the body, as the page gets it
  std::int64_t connection = -1;    ///< a number of the browser's; -1: not told
  std::string initiator;           ///< URL of what asked for it; empty: the browser, or not told
  std::string priority;            ///< the browser's last word for it; empty: not told
  /// Of the decoded body, hex; none where there is none. The browser gives text as characters, so
  /// text in another charset is hashed as UTF-8 without byte order mark: compare only with another
  /// of these.
  std::optional<std::string> body_sha256;
  std::string request_body_sha256;      ///< hex, empty when there was none
  double start_ms = 0;                  ///< since navigation start; -1 not known
  double response_ms = -1;              ///< head received; -1 never
  double end_ms = -1;                   ///< -1 never
  std::optional<RequestTiming> timing;  ///< none for what the network did not answer
};

/// kUnknown is for a file that says nothing, or a word of a later version.
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
  std::string failure;  ///< one sentence for people, empty when loaded
  std::string url;
  std::string final_url;
  std::vector<PageRequest> requests;
  double started_unix_ms = 0;  ///< when it was sent to the page, by this machine's clock

  // The metrics, each in kMetrics (metric.h). None: it never came, or nobody tells. Times are ms
  // since the first document was asked for.
  std::optional<double> dom_content_loaded_ms;
  std::optional<double> load_event_ms;
  std::optional<double> first_paint_ms;
  std::optional<double> first_contentful_paint_ms;
  std::optional<double> largest_contentful_paint_ms;
  std::optional<double> cumulative_layout_shift;
  std::optional<double> last_resource_ms;  ///< end of the last request that ended
  std::optional<double> last_load_ms;      ///< the Last Load Time
  std::optional<double> encoded_bytes;     ///< this and the next two: sum_up()
  std::optional<double> request_count;
  std::optional<double> connection_count;  ///< none: the browser tells of no connection
  std::optional<double> hits;              ///< this and the next: of the replay that served it
  std::optional<double> misses;

  /// Of document.documentElement.outerHTML when quiet, hex; none when it was not read.
  std::optional<std::string> dom_sha256;
  std::optional<std::string> dom;           ///< the text itself, where it is kept
  std::vector<std::string> console_errors;  ///< console.error and uncaught exceptions
  std::uint64_t requests_not_kept = 0;      ///< over the limit of PageRecord
  std::vector<std::string> remarks;  ///< what could not be gathered and why, one sentence each
  /// What the browser asked for of its own, as the replay saw it: "GET http://...", "DNS a.test".
  /// None without a replay.
  std::optional<std::vector<std::string>> browser_requests;
  /// What the machine did from the navigation to the load event, or until it was given up. Its
  /// own_ms are of browser and replay.
  std::optional<MachineActivity> machine;
};

/// Sets what follows from requests and DOM, where it is not set yet: the counts of requests, bytes
/// and connections, and the DOM's digest.
void sum_up(PageLoad& load);

}  // namespace reprise
