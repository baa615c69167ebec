#pragma once

// What a browser holds back. Until the body of a document begins, which is when the last script of
// its head has come, Chromium sends requests of medium or low priority only while fewer than two
// others are under way (ResourceLoadScheduler, its policy "tight"). Pure.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "analysis/dependency/page_nodes.h"
#include "analysis/prediction/load_parts.h"

namespace reprise {

inline constexpr std::size_t kHeadRequestsMax = 2;

/// Marks the requests of an observed load that were held back; what they waited for is then what
/// was left of it once they might go on. `requests`: numbers of nodes.
void find_held_back(std::span<const std::uint32_t> requests, const PlacedLoad& placed,
                    std::vector<NodeParts>& nodes);

/// The requests under way in a changed load.
class HeadRequests {
 public:
  /// `is_of_head`, by node: the scripts that the body waits for.
  explicit HeadRequests(std::vector<bool> is_of_head);

  /// Whether a request is made now. If not, ended() returns it once it is.
  bool make(std::uint32_t node, bool can_be_held_back);
  /// Returns what is made now. Nothing, if it was never made.
  std::vector<std::uint32_t> ended(std::uint32_t node);

 private:
  bool holds_back() const { return scripts_left_ > 0 && under_way_ >= kHeadRequestsMax; }
  void begin(std::uint32_t node);

  std::vector<bool> is_of_head_;
  std::vector<bool> is_under_way_;
  std::size_t scripts_left_ = 0;
  std::size_t under_way_ = 0;
  std::deque<std::uint32_t> waiting_;  ///< in the order of asking
};

}  // namespace reprise
