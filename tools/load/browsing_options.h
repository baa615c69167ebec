#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pageload/browser/browser.h"

namespace CLI {
class App;
}

namespace reprise {

/// What is wrong with the URL of a page to open; empty: it is one of http or https.
std::string check_page_url(const std::string& url);

/// How a browser loads a page, as the command line says it: to `reprise load`, which passes it on,
/// and to `reprise load-page`, which does it.
struct BrowsingOptions {
  unsigned timeout_s = 30;
  unsigned quiet_ms = 2000;
  unsigned settle_ms = 500;
  std::string viewport = "1280x800";
  double cpu_throttle = 1;
  std::filesystem::path screenshot_folder;
  std::filesystem::path trace_folder;
  std::filesystem::path steps_file;
  std::vector<Step> steps;  ///< what stands in it
  std::filesystem::path authority;
  bool headed = false;
  bool no_bodies = false;
  bool dom = false;
  std::vector<std::string> browser_flags;

  void add_to(CLI::App& command);
  /// The command line that add_to() reads as these options.
  std::vector<std::string> arguments() const;

  BrowserOptions browser() const;
  PageOptions page() const;
};

}  // namespace reprise
