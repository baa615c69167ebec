#pragma once

// The JSON in which page loads are kept and compared. The schema is RESULTS.md.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "archive/result.h"
#include "tools/browser/browser.h"

namespace reprise {

/// How the replay that served one run ended.
struct ReplayRun {
  unsigned run = 1;
  int exit_code = 0;
  boost::json::value report;  ///< what `replay --report` wrote; null when there is none
};

struct LoadResult {
  struct Load {
    unsigned run = 1;
    PageLoad page;
  };
  std::filesystem::path archive;  ///< empty: loaded live
  std::string browser_version;
  std::vector<std::string> browser_flags;
  PageOptions page;
  int width = 0;
  int height = 0;
  std::vector<Load> loads;
  std::vector<ReplayRun> replays;
};

/// Pure. The documents' text is left out (its digest is there) unless `with_dom`.
boost::json::object to_json(const LoadResult& result, bool with_dom);

/// Writes `json` to `path` in one step, mode 0600 since URLs and documents hold secrets; to
/// standard output when `path` is "-". Errors: the system error of open(2), write(2) or rename(2).
Result<void> write_result(const boost::json::object& json, const std::filesystem::path& path);

}  // namespace reprise
