#pragma once

// What a machine shows before it measures for a campaign: its browsers start, and the same page
// takes as long as on the others.

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "base/system/descriptor.h"
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

/// Until the end of this object no other measuring shard of this node runs on this machine.
class NodeLock {
 public:
  /// Waits for the others. Errors, as a sentence: its file, which is in TMPDIR, cannot be opened or
  /// locked; a signal that asked to end (Interruption).
  static std::expected<NodeLock, std::string> take(const std::string& node);

 private:
  explicit NodeLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace reprise
