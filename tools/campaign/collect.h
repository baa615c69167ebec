#pragma once

// `reprise campaign collect`: one result set from the results of all shards.

#include <cstddef>
#include <filesystem>

#include "tools/campaign/campaign_folder.h"

namespace reprise {

struct CollectOptions {
  std::filesystem::path output;
  std::size_t part = 1, parts = 1;  ///< the pages of one of several processes
  bool partial = false;     ///< --part: print lines for --merge instead of set.json and cells.tsv
  bool merge = false;       ///< standard input has the lines of all parts, in any order
  bool incomplete = false;  ///< also while shards are missing
};

/// Writes SIDE/PAGE.json for each page, set.json and cells.tsv. Holds one page at a time. Results
/// of refused nodes are not used. Prints errors; returns the exit code.
int collect_campaign(const CampaignFolder& folder, const CollectOptions& options);

}  // namespace reprise
