#pragma once

// Opens a browser and loads pages one after the other: what `reprise load` does once a run, and
// `reprise record URL...` once.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/browser/browser.h"

namespace reprise {

struct VisitOptions {
  BrowserOptions browser;
  PageOptions page;                         ///< its screenshot is set from the folder below
  std::filesystem::path screenshot_folder;  ///< run-R-page-P.png is written there; empty: none
  unsigned run = 1;                         ///< of `runs`, for progress and file names
  unsigned runs = 1;
};

struct Visit {
  std::string browser_version;             ///< empty when no browser could be started
  std::vector<std::string> browser_flags;  ///< without the profile's random path
  std::vector<PageLoad> loads;             ///< one a URL, in order
};

/// Loads each of `urls`, each in a new context of one browser; a browser that dies is replaced for
/// the next URL. Says on stderr how each load ended (on a terminal also what it is at). Never fails
/// as such: a browser that cannot be started is the outcome of every load.
Visit visit_pages(const std::vector<std::string>& urls, const VisitOptions& options);

}  // namespace reprise
