#pragma once

// Drives one headless browser: Chromium over DevTools, Firefox over WebDriver BiDi. Blocking; one
// thread.

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pageload/browser/steps.h"

namespace reprise {

struct BrowserOptions {
  /// Empty: found on PATH (chromium, google-chrome, ...). A name that begins with "firefox" is
  /// Firefox, any other Chromium.
  std::filesystem::path program;
  std::vector<std::string> extra_flags;  ///< such as a replay's chromium_flags
  /// PEM file of an authority to trust, in the browser's own database; empty: none.
  std::filesystem::path authority;
  /// For Firefox, which has no flags for it: where on 127.0.0.1 every name leads, instead of to
  /// ports 80 and 443. 0: to where names lead.
  std::uint16_t http_port = 0;
  std::uint16_t https_port = 0;
  bool headless = true;
  int width = 1280;  ///< of the page itself, in CSS pixels
  int height = 800;
  std::chrono::milliseconds start_timeout{30'000};
};

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
  double start_ms = 0;                  ///< since navigation start
  double response_ms = -1;              ///< head received; -1 never
  double end_ms = -1;                   ///< -1 never
  std::optional<RequestTiming> timing;  ///< none for what the network did not answer
};

enum class LoadOutcome { kLoaded, kTimedOut, kNavigationFailed, kBrowserDied, kNotInArchive };
std::string_view to_string(LoadOutcome outcome);

struct PageLoad {
  LoadOutcome outcome = LoadOutcome::kLoaded;
  std::string failure;  ///< one sentence for people, empty when loaded
  std::string url;
  std::string final_url;
  std::vector<PageRequest> requests;
  double started_unix_ms = 0;  ///< when it was sent to the page, by this machine's clock
  double dom_content_loaded_ms = -1;
  double load_event_ms = -1;
  double first_paint_ms = -1;
  double first_contentful_paint_ms = -1;
  double largest_contentful_paint_ms = -1;
  std::optional<double> cumulative_layout_shift;  ///< none: the browser does not tell
  double last_resource_ms = -1;                   ///< end of the last request that ended
  double last_load_ms = -1;                 ///< last_load_ms() of a page watched for long enough
  std::string dom;                          ///< document.documentElement.outerHTML when quiet
  std::vector<std::string> console_errors;  ///< console.error and uncaught exceptions
  std::uint64_t requests_not_kept = 0;      ///< over the limit of DevtoolsRecorder
  std::vector<std::string> remarks;  ///< what could not be gathered and why, one sentence each
};

struct PageOptions {
  std::chrono::milliseconds timeout{30'000};
  /// The page is done when it has loaded and no request was in flight for this long. Requests of
  /// type EventSource, WebSocket and Media, which may stay open for good, do not count.
  /// Below kLastLoadGapMs there is no PageLoad::last_load_ms.
  std::chrono::milliseconds quiet{2000};
  /// How long the new, empty page rests before it navigates: the time a browser needs to finish
  /// what opening a page starts, which otherwise shows as noise in the load.
  std::chrono::milliseconds settle{500};
  /// The page is loaded twice, and the second time counts: the browser's cache has what it keeps.
  bool warm = false;
  double cpu_throttle = 1;           ///< how many times slower pages compute; Chromium only
  bool fetch_bodies = true;          ///< fill body_sha256
  std::filesystem::path screenshot;  ///< PNG, none when empty
  std::filesystem::path trace;       ///< JSON, gzip, none when empty; Chromium only
  /// Taken once the page is quiet, each within `timeout`; then the page is watched until it is
  /// quiet again, and all that it did is the load.
  std::vector<Step> steps;
};

/// A running browser with a fresh profile in a private temporary folder. Destroying it ends every
/// process of the browser and removes the profile, also when the browser hangs.
class Browser {
 public:
  /// Errors: no_such_file_or_directory when no browser was found; timed_out; broken_pipe when it
  /// ended or does not speak the protocol; no_such_process when its profile could not be prepared;
  /// the error of fork. `failure`, when given, receives a
  /// sentence for people.
  static Result<std::unique_ptr<Browser>> start(const BrowserOptions& options,
                                                std::string* failure = nullptr);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Loads `url` in a new context (empty cache, no cookies) and waits until it is loaded and quiet.
  /// Never fails as such: every ending is an outcome.
  PageLoad load(const std::string& url, const PageOptions& options);

  /// False once it died or stopped answering: further loads fail, so start another.
  bool usable() const;

  std::string version() const;  ///< "Chrome/156.0.8078.73", "Firefox/153.7.0"
  /// All of the command line but the program and the private folder's random path.
  const std::vector<std::string>& flags() const;

 private:
  struct State;
  explicit Browser(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace reprise
