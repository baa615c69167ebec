#pragma once

// `reprise campaign collect`: one result set from the results of all shards.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tools/campaign/campaign_folder.h"

namespace reprise {

/// The pages of one of several processes: every `of`th from the `number`th, which is from 1.
struct CollectPart {
  std::size_t number = 1, of = 1;
  /// "2/3". Nothing if it is no part.
  static std::optional<CollectPart> parse(std::string_view text);
};

struct CollectOptions {
  std::filesystem::path output;
  /// Print lines for --merge instead of set.json and cells.tsv: of this part, or of those that
  /// standard input names, one per line ("-"). Empty: make the whole set.
  std::string part;
  bool merge = false;       ///< standard input has the lines of all parts, in any order
  bool incomplete = false;  ///< also while shards are missing
};

/// Writes SIDE/PAGE.json for each page, set.json and cells.tsv. In a folder with an older set,
/// removes every other SIDE/*.json, and the results of sides that only the older set has: those of
/// its pages. Holds one page at a time. Results of refused nodes are not used. Prints errors;
/// returns the exit code.
int collect_campaign(const CampaignFolder& folder, const CollectOptions& options);

}  // namespace reprise
