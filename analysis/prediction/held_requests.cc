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
  if (request.is_delayable && (delayable_ >= kMax || is_full(request.origin))) {
    waiting_.emplace(request.urgency, request);
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
  if (request.is_delayable) ++delayable_;
}

std::optional<std::uint32_t> DelayableRequests::ended(std::uint32_t node) {
  auto const ended = under_way_.find(node);
  if (ended == under_way_.end()) return std::nullopt;
  --of_origin_[ended->second.origin];
  if (ended->second.is_delayable) --delayable_;
  under_way_.erase(ended);
  if (delayable_ >= kMax) return std::nullopt;
  // Of those that wait, each did for the place of what ended.
  auto const next = std::ranges::find_if(
      waiting_, [this](const auto& each) { return !is_full(each.second.origin); });
  if (next == waiting_.end()) return std::nullopt;
  auto const request = waiting_.extract(next).mapped();
  begin(request);
  return request.node;
}

}  // namespace reprise
