#pragma once

// What all shards measured of one page, put together: one result for each side. Pure.

#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/campaign/page_failure.h"
#include "analysis/campaign/plan.h"
#include "analysis/campaign/shard_result.h"

namespace reprise {

/// One page's lines of set.json and cells.tsv.
struct PageLine {
  std::size_t page = 0;  ///< index into Plan::pages
  std::string summary;   ///< JSON, as text: reading numbers again could change them
  std::string cells;
  // What the summary says:
  std::size_t urls = 0;                    ///< pages that were loaded, or failed
  std::vector<std::string> failures = {};  ///< a sentence for each page of which every load failed
};
/// Of what PageCollection::summary() and cells() give.
PageLine page_line(std::size_t page, const boost::json::object& summary, std::string cells);
/// "PAGE TAB JSON" with a newline, as engines sort and merge lines; and back, without the newline.
/// Nothing if it is no such line.
std::string page_line_text(const PageLine& line);
std::optional<PageLine> read_page_line(std::string_view text);

class PageCollection {
 public:
  PageCollection(const Plan& plan, std::size_t page);

  /// A record of this page. Loads keep the node that made them, and get run numbers that are unique
  /// in the page. Errors, as a sentence: a side that the plan does not have; an archive that
  /// changed between two shards.
  std::optional<std::string> add(const ShardHeader& header, ShardRecord record);

  /// Why there is no record of this page, or not of all its loads.
  void add_failure(PageFailure failure);
  /// The URL of a page of which there is no load.
  void add_start_url(std::string url) { start_url_ = std::move(url); }

  /// By side, in the plan's order; one without loads is empty.
  const std::vector<LoadResult>& results() const { return results_; }

  /// What does not depend on who measured, and how fast: a line per side and cell, with tabs
  /// between page, side, url, browser, protocol, link, cache, loads, requests that most loads made,
  /// and their SHA-256. The same on every engine if the page requests the same.
  std::string cells() const;
  /// "page", "loads", "failed", "nodes" with their loads, "browsers" with their versions, "urls" of
  /// the pages; "failures", if every load of one of them failed; of the task advise also "advice",
  /// and as recorded "url" and "load_events_ms"; without advice "url", if it is known.
  boost::json::object summary() const;

 private:
  std::vector<PageFailure> failures() const;

  const Plan& plan_;
  std::size_t page_;
  std::optional<PageFailure> not_measured_;
  std::vector<LoadResult> results_;
  std::map<std::string, std::size_t> nodes_;
  std::map<std::string, std::set<std::string>> browsers_;  ///< versions, by name
  boost::json::object advice_;
  std::string start_url_;
};

}  // namespace reprise
