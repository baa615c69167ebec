#include "analysis/prediction/held_back.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "analysis/prediction/held_requests.h"

namespace reprise {
namespace {

/// A request counts as held back if it waited longer than this.
constexpr double kWaitedUs = 20'000;
/// And went on this soon after it might: the last script of the head has run by then.
constexpr double kReleasedUs = 50'000;

/// When requests that may wait could go on.
class FreeMoments {
 public:
  void add(std::int64_t at_us, bool is_free) {
    if (!moments_.empty() && moments_.back().is_free == is_free) return;
    moments_.push_back({static_cast<double>(at_us), is_free});
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

/// Those of an observed load, by each of the browser's two rules.
class ObservedRules {
 public:
  ObservedRules(std::span<const std::uint32_t> requests, const PlacedLoad& placed,
                std::span<const SetupPhase> setups, const std::vector<NodeParts>& nodes) {
    std::map<std::uint32_t, std::int64_t> begun_us;  // of those that made a connection
    for (SetupPhase const& phase : setups) {
      auto const [at, added] = begun_us.emplace(phase.node, phase.start_us);
      if (!added) at->second = std::min(at->second, phase.start_us);
    }
    struct Change {
      int under_way = 0, scripts = 0, delayable = 0;
    };
    std::map<std::int64_t, Change> changes;
    for (auto const node : requests) {
      NodeTimes const& times = *placed[node];
      // What may be held back itself is under way from its sending. What ends then, ended before.
      bool const is_low = nodes[node].can_be_held_back;
      int const script = nodes[node].is_of_head ? 1 : 0;
      int const delayable = is_delayable(nodes[node].protocol, nodes[node].urgency) ? 1 : 0;
      auto& begun = changes[(is_low ? times.sent_us : times.start_us) + 1];
      ++begun.under_way;
      begun.scripts += script;
      auto const connected = begun_us.find(node);
      auto const asked_us = connected == begun_us.end() ? times.sent_us : connected->second;
      changes[asked_us + 1].delayable += delayable;
      auto& ended = changes[times.end_us];
      --ended.under_way;
      ended.scripts -= script;
      ended.delayable -= delayable;
    }
    Change now;
    for (auto const& [at_us, change] : changes) {
      now.under_way += change.under_way;
      now.scripts += change.scripts;
      now.delayable += change.delayable;
      head_.add(at_us, now.scripts <= 0 || now.under_way < static_cast<int>(HeadRequests::kMax));
      delayable_.add(at_us, now.delayable < static_cast<int>(DelayableRequests::kMax));
    }
  }

  const FreeMoments& head() const { return head_; }
  const FreeMoments& delayable() const { return delayable_; }

 private:
  FreeMoments head_, delayable_;
};

}  // namespace

void find_held_back(std::span<const std::uint32_t> requests, const PlacedLoad& placed,
                    std::span<const SetupPhase> setups, std::vector<NodeParts>& nodes) {
  ObservedRules const rules(requests, placed, setups, nodes);
  for (auto const i : requests) {
    NodeParts& node = nodes[i];
    // It waited before it asked for a connection, or else when it could have been sent.
    bool const is_before = node.hold_us > kWaitedUs;
    double& waited_us = is_before ? node.hold_us : node.queue_us;
    if (!node.can_be_held_back || waited_us <= kWaitedUs) continue;
    auto const until_us = is_before
                              ? static_cast<double>(placed[i]->start_us) + node.hold_us
                              : static_cast<double>(placed[i]->sent_us) - node.own_setup.sum();
    auto const left_us = [&](const FreeMoments& moments) -> std::optional<double> {
      auto const let_go_us = moments.let_go_us(until_us);
      if (!let_go_us || *let_go_us <= until_us - waited_us + kWaitedUs) return std::nullopt;
      auto const left = until_us - *let_go_us;
      return left <= kReleasedUs ? std::optional(left) : std::nullopt;
    };
    if (auto const left = left_us(rules.head())) {
      node.is_held_back = true;
      waited_us = *left;
    } else if (is_delayable(node.protocol, node.urgency)) {
      waited_us = left_us(rules.delayable()).value_or(waited_us);
    }
  }
}

}  // namespace reprise
