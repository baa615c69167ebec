#pragma once

// Drives one browser: Chromium over DevTools, Firefox over WebDriver BiDi. Blocking; one thread.

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pageload/browser/steps.h"
#include "pageload/devices/device.h"
#include "pageload/results/page_load.h"

namespace reprise {

struct BrowserOptions {
  /// Empty or "chromium": searched on PATH (chromium, google-chrome, ...). A name that begins with
  /// "firefox" is Firefox, any other Chromium.
  std::filesystem::path program;
  /// A user's, then a replay's chromium_flags: in a list of both (--host-resolver-rules) the first
  /// entry counts.
  std::vector<std::string> extra_flags;
  /// PEM file of an authority to trust, in the browser's own database; empty: none.
  std::filesystem::path authority;
  /// For Firefox, which has no flags for it: the port on 127.0.0.1 that every name leads to,
  /// instead of ports 80 and 443. 0: no redirection.
  std::uint16_t http_port = 0;
  std::uint16_t https_port = 0;
  boost::json::object firefox_prefs;              ///< by name, such as a replay's firefox_prefs
  std::vector<std::filesystem::path> extensions;  ///< unpacked: absolute folders
  bool headless = true;
  bool keep_open = false;  ///< as in PageOptions, which must be the same
  bool favoured = false;   ///< put before other programs, where permitted: favour_process()
  int width = 1280;        ///< of the page, in CSS pixels
  int height = 800;
  std::chrono::milliseconds start_timeout{90'000};
};

struct PageOptions {
  std::chrono::milliseconds timeout{30'000};
  /// The page is done when it has loaded and had no request in flight for this long. Requests of
  /// type EventSource, WebSocket and Media do not count, as they may stay open forever. Below
  /// kLastLoadGapMs there is no PageLoad::last_load_ms.
  std::chrono::milliseconds quiet{2000};
  /// How long the browser has to be idle, in a new, empty page, before that navigates: else the
  /// work of starting it and of opening a page would take the processors from the load. At most ten
  /// seconds are waited for it. 0: navigate at once.
  std::chrono::milliseconds settle{500};
  /// Load the page twice and measure the second load, which has a filled cache.
  bool warm = false;
  std::optional<Device> device;  ///< what the browser pretends to be; Chromium only
  /// Runs before all scripts of each document and frame; empty: none.
  std::string script;
  double cpu_throttle = 1;           ///< how many times slower pages compute; Chromium only
  bool fetch_bodies = true;          ///< fill body_sha256
  std::filesystem::path screenshot;  ///< PNG; empty: none
  std::filesystem::path trace;       ///< JSON, gzip; empty: none; Chromium only
  /// Run once the page is quiet, each with its own `timeout`; then the page is watched until it is
  /// quiet again. The load covers all of this.
  std::vector<Step> steps;
  /// Once the load is measured, leave the page to the user until the browser is closed.
  bool keep_open = false;
};

/// A running browser with a fresh profile in a private temporary folder. The destructor ends every
/// process of the browser and removes the profile, even if the browser hangs.
class Browser {
 public:
  /// Errors: no_such_file_or_directory: no browser was found; timed_out; broken_pipe: the browser
  /// ended or does not speak the protocol; no_such_process: its profile could not be prepared;
  /// not_supported: it refused an extension; the error of fork. `failure`, if given, receives a
  /// sentence for users.
  static Result<std::unique_ptr<Browser>> start(const BrowserOptions& options,
                                                std::string* failure = nullptr);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Loads `url` in a new context (empty cache, no cookies) and waits until it is loaded and quiet.
  /// Failures are outcomes in the result.
  PageLoad load(const std::string& url, const PageOptions& options);

  /// How many times slower pages compute at that PageOptions::cpu_throttle: DevTools only aims at
  /// it. Errors: not_supported, as by Firefox; after others the browser is not usable().
  Result<double> slowdown(double cpu_throttle);

  /// False after the browser died or stopped answering: further loads fail, so start another.
  bool usable() const;

  /// "Chrome/156.0.8078.73", "Firefox/153.7.0"; "Chrome/156.0.8078.73 (google-chrome)" if that was
  /// found instead of the program that was named.
  std::string version() const;
  /// The command line without the program and the random path of the private folder.
  const std::vector<std::string>& flags() const;

 private:
  struct State;
  explicit Browser(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace reprise
