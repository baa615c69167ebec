#pragma once

// Drives one headless Chromium over --remote-debugging-pipe. Blocking; one thread.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/result.h"

namespace reprise {

struct BrowserOptions {
  std::filesystem::path program;        ///< empty: found on PATH (chromium, google-chrome, ...)
  std::vector<std::string> extra_flags; ///< such as a replay's chromium_flags
  bool headless = true;
  int width = 1280;
  int height = 800;
};

/// One request of a page as the browser saw it, in the order the requests were sent. Each hop of a
/// redirect is a request of its own.
struct PageRequest {
  std::string url;
  std::string method;
  std::string resource_type;   ///< DevTools' Network.ResourceType: "Document", "Image", ...
  int status = 0;              ///< 0 when there was no response
  std::string protocol;        ///< ALPN id as nextHopProtocol shows it: "http/1.1", "h2"
  std::string remote_address;  ///< "127.0.0.1:8443"
  std::string mime_type;
  std::string failure;         ///< net::ERR_..., empty when it loaded
  bool from_cache = false;
  std::int64_t encoded_bytes = 0;  ///< on the wire: head and coded body
  std::optional<std::string> body_sha256;  ///< of the decoded body, hex; none where there is none
  std::string request_body_sha256;         ///< hex, empty when there was none
  double start_ms = 0;          ///< since navigation start
  double response_ms = -1;      ///< head received; -1 never
  double end_ms = -1;           ///< -1 never
};

enum class LoadOutcome { kLoaded, kTimedOut, kNavigationFailed, kBrowserDied };
std::string_view to_string(LoadOutcome outcome);

struct PageLoad {
  LoadOutcome outcome = LoadOutcome::kLoaded;
  std::string failure;  ///< one sentence for people, empty when loaded
  std::string url;
  std::string final_url;
  std::vector<PageRequest> requests;
  double dom_content_loaded_ms = -1;
  double load_event_ms = -1;
  double first_contentful_paint_ms = -1;
  double last_resource_ms = -1;       ///< end of the last request that ended
  std::string dom;                    ///< document.documentElement.outerHTML when quiet
  std::vector<std::string> console_errors;  ///< console.error and uncaught exceptions
};

struct PageOptions {
  std::chrono::milliseconds timeout{30'000};
  /// The page is done when it has loaded and no request was in flight for this long.
  std::chrono::milliseconds quiet{500};
  bool fetch_bodies = true;                ///< fill body_sha256
  std::filesystem::path screenshot;        ///< PNG, none when empty
};

/// A running browser with a fresh profile in a private temporary folder. Destroying it ends every
/// process of the browser and removes the profile, also when the browser hangs.
class Browser {
 public:
  /// Errors: no_such_file_or_directory when no browser was found; timed_out; the error of fork.
  static Result<std::unique_ptr<Browser>> start(const BrowserOptions& options);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Loads `url` in a new context (empty cache, no cookies) and waits until it is loaded and quiet.
  /// Never fails as such: every ending is an outcome.
  PageLoad load(const std::string& url, const PageOptions& options);

  std::string version() const;  ///< "Chrome/156.0.8078.73"

 private:
  struct State;
  explicit Browser(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace reprise
