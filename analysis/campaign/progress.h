#pragma once

// How far a campaign is, judged by the results that are there and by nothing else. Pure.

#include <boost/json/object.hpp>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/campaign/nodes.h"
#include "analysis/campaign/page_failure.h"
#include "analysis/campaign/plan.h"
#include "analysis/campaign/shard_result.h"

namespace reprise {

/// Why the last attempt at a shard left no result.
struct ShardFailure {
  std::size_t shard = 0;  ///< from 1
  std::string node;
  std::string reason;       ///< a sentence; the same one if another attempt fails alike
  std::string detail = {};  ///< what happened in this attempt; can be empty

  std::string text() const { return detail.empty() ? reason : reason + " (" + detail + ")"; }
};

struct CampaignFacts {
  std::vector<ShardHeader> results;  ///< of this plan, at most one of each shard
  std::size_t foreign = 0;           ///< results of another plan, which do not count
  std::vector<ShardFailure> failures;
  std::vector<NodeCheck> nodes;
};

struct CampaignProgress {
  std::size_t shards = 0;
  std::vector<std::size_t> missing;  ///< from 1, ascending
  /// Those that were made in the shards that are done, and those of one page per archive in the
  /// others: how many pages an archive has is known when it is loaded.
  std::size_t loads_planned = 0;
  std::size_t loads = 0;
  std::size_t failed_loads = 0;
  double machine_seconds = 0;  ///< of the results
  /// Until the rest is done, if as many nodes work as have left results (at least one).
  double seconds_left = 0;
  struct Node {
    std::size_t shards = 0;
    double seconds = 0;
  };
  std::map<std::string, Node> nodes;
  std::map<std::string, std::size_t> reasons;  ///< of missing shards, and their number
  std::vector<PageFailure> failed_pages;       ///< in the shards that are done, of every load
  std::vector<RefusedNode> refused;
  std::vector<std::string> remarks;  ///< sentences
};

/// A result of a refused node does not count: its shard is missing.
CampaignProgress progress_of(const Plan& plan, const CampaignFacts& facts);
/// For people, several lines.
std::string progress_text(const CampaignProgress& progress);
/// `reprise-campaign-status/1`.
boost::json::object to_json(const CampaignProgress& progress);

/// "3 min", "2.5 h", "31 days": rounded up.
std::string time_text(double seconds);

}  // namespace reprise
