#pragma once

// What a machine shows before it measures for a campaign: its browsers start, and the same page
// takes as long as on the others.

#include <cstddef>
#include <optional>
#include <string>

#include "tools/campaign/campaign_folder.h"

namespace reprise {

/// Loads of the A/A calibration, beside one that warms up.
inline constexpr std::size_t kCalibrationLoads = 8;

/// Why a node must not measure.
struct NodeFault {
  std::string why;          ///< a sentence
  bool is_refused = false;  ///< for what it showed; else its check was interrupted, or not kept
};

/// Checks this machine unless it was checked for this plan, and keeps what it found. Returns why it
/// must not measure; nothing: it may.
std::optional<NodeFault> check_node(const CampaignFolder& folder, const std::string& node);

/// Until the end of this object no other measuring shard of this node runs on this machine. Waits.
class NodeLock {
 public:
  explicit NodeLock(const std::string& node);

 private:
  Descriptor file_;
};

}  // namespace reprise
