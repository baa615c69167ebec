#pragma once

// What a browser holds back. Pure.
//
// Until the body of a document begins, which is when the last script of its head has come, Chromium
// sends requests of medium or low priority only while fewer than two others are under way
// (ResourceLoadScheduler, its policy "tight"). Over HTTP/1.1, at all times, it has at most ten of
// them under way, and sends none to an origin to which six requests are (ResourceScheduler; what is
// "medium" to the page is low to the network). Over HTTP/2 they neither wait nor count, since the
// server orders them.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "analysis/prediction/page_change.h"

namespace reprise {

/// The requests under way in a changed load, for the rule of the head.
class HeadRequests {
 public:
  static constexpr std::size_t kMax = 2;

  /// `is_of_head`, by node: the scripts that the body waits for.
  explicit HeadRequests(std::vector<bool> is_of_head);

  /// Whether a request is made now. If not, ended() returns it once it is.
  bool make(std::uint32_t node, bool can_be_held_back);
  /// Returns what is made now. Nothing, if it was never made.
  std::vector<std::uint32_t> ended(std::uint32_t node);

 private:
  bool holds_back() const { return scripts_left_ > 0 && under_way_ >= kMax; }
  void begin(std::uint32_t node);

  std::vector<bool> is_of_head_;
  std::vector<bool> is_under_way_;
  std::size_t scripts_left_ = 0;
  std::size_t under_way_ = 0;
  std::deque<std::uint32_t> waiting_;  ///< in the order of asking
};

/// Whether the limits of HTTP/1.1 are for a request.
inline bool is_delayable(PredictedProtocol protocol, std::optional<int> urgency) {
  return protocol == PredictedProtocol::kH1 && urgency && *urgency > kUrgencyHigh;
}

/// The requests under way in a changed load, for the limits of HTTP/1.1.
class DelayableRequests {
 public:
  static constexpr std::size_t kMax = 10, kOfOriginMax = 6;

  struct Request {
    std::uint32_t node = 0;
    std::size_t origin = 0;
    int urgency = 0;
    bool is_delayable = false;  ///< others count for their origin alone
  };

  /// Whether a request may go on now; if it was told so before, it may. If not, ended() returns it
  /// once it may.
  bool make(const Request& request);
  /// Returns what may go on now, one at most: the most urgent, of equal ones the first that asked.
  std::optional<std::uint32_t> ended(std::uint32_t node);

 private:
  bool is_full(std::size_t origin) const;
  void begin(const Request& request);

  std::map<std::uint32_t, Request> under_way_;  ///< by node
  std::size_t delayable_ = 0;                   ///< of them
  std::map<std::size_t, std::size_t> of_origin_;
  std::multimap<int, Request> waiting_;  ///< by urgency
};

}  // namespace reprise
