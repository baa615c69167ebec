#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "pageload/browser/browser.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace reprise {

/// The error in a page's URL; empty if it is an http or https URL.
std::string check_page_url(const std::string& url);

/// The error in these values of --timeout and --quiet, with which no page can load; empty if there
/// is time to be quiet.
std::string check_quiet(unsigned timeout_s, unsigned quiet_ms);

/// Adds --device, which sets `device` to the name of a known device, and returns it.
CLI::Option* add_device_option(CLI::App& command, std::string& device);

/// How long a page makes no request before it counts as quiet, in ms, unless told otherwise. The
/// same for recordings and loads: a load that waits longer can request what was not recorded.
inline constexpr unsigned kQuietMs = 2000;

/// How a browser loads a page, as options of `reprise load`, which passes them on, and of `reprise
/// load-page`, which uses them.
struct BrowsingOptions {
  unsigned timeout_s = 30;
  unsigned quiet_ms = kQuietMs;
  unsigned settle_ms = 500;
  std::string viewport = "1280x800";
  std::string device;  ///< its name; empty: none, the viewport counts; excludes --viewport
  double cpu_throttle = 1;
  std::filesystem::path screenshot_folder;
  std::filesystem::path trace_folder;
  std::filesystem::path steps_file;
  std::vector<Step> steps;  ///< the file's contents
  std::filesystem::path authority;
  bool headed = false;
  std::vector<std::filesystem::path> extensions;  ///< absolute folders
  bool keep_open = false;
  bool no_bodies = false;
  bool dom = false;
  std::vector<std::string> browser_flags;

  void add_to(CLI::App& command);
  /// The command line that add_to() parses to these options.
  std::vector<std::string> arguments() const;

  BrowserOptions browser() const;
  PageOptions page() const;
  /// LoadSetup::time_limit for such loads: no step and no page is cut off before its own limit.
  std::chrono::seconds time_limit() const;
};

}  // namespace reprise
