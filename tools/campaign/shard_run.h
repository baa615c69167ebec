#pragma once

// `reprise campaign run`: one shard, on this machine.

#include <cstddef>
#include <string>

#include "tools/campaign/campaign_folder.h"

namespace reprise {

/// Another node, or the same one later, can do it: what engines call "requeue" (sysexits.h).
inline constexpr int kExitShardAgain = 75;

/// Measures shard `number` (from 1) unless its result exists, and keeps the result or the reason
/// for its failure. The result of a node that is refused now is set aside first. A page that fails
/// costs the others of the shard nothing: when it fails for the same reason as at the last attempt,
/// the result is kept without it, and the header has the reason and counts its loads as failed. A
/// shard that records, and of which every page fails, has a result when another node has failed the
/// same way, or this one if there is no other. May run any number of times, also at once. Returns
/// the exit code: done; kExitShardAgain if this node must not measure, has no room, or recorded no
/// page; failed; 128 plus its number for a signal.
int run_shard(const CampaignFolder& folder, std::size_t number, const std::string& node);

}  // namespace reprise
