#include "analysis/prediction/head_requests.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace reprise {
namespace {

/// A request counts as held back if it waited longer than this.
constexpr double kWaitedUs = 20'000;
/// And went on this soon after it might: the last script of the head has run by then.
constexpr double kReleasedUs = 50'000;

/// When an observed load let requests go that may be held back.
class ObservedHead {
 public:
  ObservedHead(std::span<const std::uint32_t> requests, const PlacedLoad& placed,
               const std::vector<NodeParts>& nodes) {
    struct Change {
      int under_way = 0;
      int scripts = 0;
    };
    std::map<std::int64_t, Change> changes;
    for (auto const node : requests) {
      NodeTimes const& times = *placed[node];
      // What may be held back itself is under way from its sending. What ends then, ended before.
      bool const is_low = nodes[node].can_be_held_back;
      int const script = nodes[node].is_of_head ? 1 : 0;
      auto& begun = changes[(is_low ? times.sent_us : times.start_us) + 1];
      ++begun.under_way;
      begun.scripts += script;
      auto& ended = changes[times.end_us];
      --ended.under_way;
      ended.scripts -= script;
    }
    Change now;
    for (auto const& [at_us, change] : changes) {
      now.under_way += change.under_way;
      now.scripts += change.scripts;
      bool const is_free = now.scripts <= 0 || now.under_way < static_cast<int>(kHeadRequestsMax);
      if (moments_.empty() || moments_.back().is_free != is_free) {
        moments_.push_back({static_cast<double>(at_us), is_free});
      }
    }
  }

  /// When what was sent at that time might be: the last moment before that let something go.
  std::optional<double> let_go_us(double sent_us) const {
    auto const next = std::ranges::upper_bound(moments_, sent_us, {}, &Moment::at_us);
    if (next == moments_.begin() || !std::prev(next)->is_free) return std::nullopt;
    return std::prev(next)->at_us;
  }

 private:
  struct Moment {
    double at_us = 0;
    bool is_free = true;
  };
  std::vector<Moment> moments_;  ///< in turns free and not free
};

}  // namespace

void find_held_back(std::span<const std::uint32_t> requests, const PlacedLoad& placed,
                    std::vector<NodeParts>& nodes) {
  ObservedHead const head(requests, placed, nodes);
  for (auto const i : requests) {
    NodeParts& node = nodes[i];
    // One that waited for a connection was held back before that was begun.
    bool const is_before = node.hold_us > kWaitedUs;
    double& waited_us = is_before ? node.hold_us : node.queue_us;
    if (!node.can_be_held_back || waited_us <= kWaitedUs) continue;
    auto const until_us = is_before
                              ? static_cast<double>(placed[i]->start_us) + node.hold_us
                              : static_cast<double>(placed[i]->sent_us) - node.own_setup.sum();
    auto const let_go_us = head.let_go_us(until_us);
    if (!let_go_us || *let_go_us <= until_us - waited_us + kWaitedUs) continue;
    auto const left_us = until_us - *let_go_us;
    if (left_us > kReleasedUs) continue;
    node.is_held_back = true;
    waited_us = left_us;
  }
}

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

}  // namespace reprise
