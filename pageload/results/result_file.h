#pragma once

// The JSON in which page loads are kept and compared. The schema is RESULTS.md.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pageload/browser/browser.h"

namespace reprise {

/// How the replay that served one run ended.
struct ReplayRun {
  unsigned run = 1;
  int exit_code = 0;
  boost::json::value report;  ///< what `replay --report` wrote; null when there is none
};

/// Under which conditions a page is loaded.
struct LoadConfiguration {
  std::string browser = "chromium";
  std::string protocol = "recorded";  ///< "recorded", "h1", "h2"; "live" without an archive
  std::string link = "none";          ///< as replay --link takes it
  std::string cache = "cold";         ///< "cold", "warm"

  bool operator==(const LoadConfiguration&) const = default;
};

/// The computer that the loads were made on.
struct Machine {
  std::string cpu;
  unsigned cores = 0;
  std::string kernel;
  std::uint64_t memory_bytes = 0;
};
/// What this system tells; empty or 0 where it does not.
Machine this_machine();

struct LoadResult {
  struct Browser {
    std::string name;                ///< as LoadConfiguration::browser
    std::string version;             ///< empty when it could not be started
    std::vector<std::string> flags;  ///< without program and profile
  };
  struct Load {
    unsigned run = 1;
    LoadConfiguration configuration;
    unsigned order = 1;
    bool warm_up = false;
    std::optional<std::size_t> replay;  ///< into LoadResult::replays
    boost::json::object page;           ///< of page_json()
  };
  std::filesystem::path archive;  ///< empty: loaded live
  std::string archive_sha256;     ///< empty: live
  Machine machine;
  std::uint64_t seed = 0;         ///< of the order of the loads
  std::vector<Browser> browsers;  ///< in the order of their first load
  PageOptions page;
  int width = 0;
  int height = 0;
  std::vector<Load> loads;
  std::vector<ReplayRun> replays;
};

/// For a result, or a file of its own.
boost::json::object browser_json(const LoadResult::Browser& browser);

/// Everything of a load that the browser knows. Pure. The document's text is left out (its digest
/// is there) unless `with_dom`.
boost::json::object page_json(const PageLoad& page, bool with_dom);

/// Pure.
boost::json::object to_json(const LoadResult& result);

/// Writes `json` to `path` in one step, mode 0600 since URLs and documents hold secrets; to
/// standard output when `path` is "-". Errors: the system error of open(2), write(2) or rename(2).
Result<void> write_result(const boost::json::object& json, const std::filesystem::path& path);

}  // namespace reprise
