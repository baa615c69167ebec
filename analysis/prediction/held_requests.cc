#include "analysis/prediction/held_requests.h"

#include <algorithm>
#include <utility>

namespace reprise {

HeadRequests::HeadRequests(std::vector<bool> is_of_head)
    : is_of_head_(std::move(is_of_head)), is_under_way_(is_of_head_.size()) {
  scripts_left_ = static_cast<std::size_t>(std::ranges::count(is_of_head_, true));
}

bool HeadRequests::make(std::uint32_t node, bool can_be_held_back) {
  if (can_be_held_back && holds_back()) {
    waiting_.push_back(node);
    return false;
  }
  begin(node);
  return true;
}

void HeadRequests::begin(std::uint32_t node) {
  is_under_way_[node] = true;
  ++under_way_;
}

std::vector<std::uint32_t> HeadRequests::ended(std::uint32_t node) {
  std::vector<std::uint32_t> made;
  if (!is_under_way_[node]) return made;
  is_under_way_[node] = false;
  --under_way_;
  if (is_of_head_[node]) --scripts_left_;
  while (!waiting_.empty() && !holds_back()) {
    begin(waiting_.front());
    made.push_back(waiting_.front());
    waiting_.pop_front();
  }
  return made;
}

bool DelayableRequests::make(const Request& request) {
  if (under_way_.contains(request.node)) return true;
  bool const waits = request.can_wait && is_delayable(request.urgency) &&
                     (delayable_ >= kMax || is_full(request.origin));
  if (waits) {
    waiting_.emplace(*request.urgency, request);
    return false;
  }
  begin(request);
  return true;
}

bool DelayableRequests::is_full(std::size_t origin) const {
  auto const known = of_origin_.find(origin);
  return known != of_origin_.end() && known->second >= kOfOriginMax;
}

void DelayableRequests::begin(const Request& request) {
  under_way_.emplace(request.node, request);
  ++of_origin_[request.origin];
  if (is_delayable(request.urgency)) ++delayable_;
}

std::vector<std::uint32_t> DelayableRequests::ended(std::uint32_t node) {
  std::vector<std::uint32_t> made;
  auto const ended = under_way_.find(node);
  if (ended == under_way_.end()) return made;
  --of_origin_[ended->second.origin];
  if (is_delayable(ended->second.urgency)) --delayable_;
  under_way_.erase(ended);
  for (auto next = waiting_.begin(); next != waiting_.end() && delayable_ < kMax;) {
    if (is_full(next->second.origin)) {
      ++next;
      continue;
    }
    begin(next->second);
    made.push_back(next->second.node);
    next = waiting_.erase(next);
  }
  return made;
}

}  // namespace reprise
