#pragma once

// Drives one headless browser: Chromium over DevTools, Firefox over WebDriver BiDi. Blocking; one
// thread.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "pageload/browser/steps.h"
#include "pageload/results/page_load.h"

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
