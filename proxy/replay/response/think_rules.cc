#include "proxy/replay/response/think_rules.h"

namespace reprise {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): a random number of a place in a sequence.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace

std::chrono::nanoseconds ThinkDraws::next() {
  auto const number = drawn_.fetch_add(1, std::memory_order_relaxed);
  const auto& times = rules_.front()->draws;
  auto time = times[mixed(seed_ + number) % times.size()];
  for (std::size_t i = 1; i < rules_.size(); ++i) time = rules_[i]->change.of(time);
  return time;
}

ThinkRules::Changed ThinkRules::of(const Exchange& exchange, std::chrono::nanoseconds usual) const {
  Changed changed{.fixed = usual, .draws = nullptr};
  auto const found = rules_.find(exchange.sequence);
  if (found == rules_.end()) return changed;
  std::vector<std::shared_ptr<const ThinkRule>> draws;
  for (auto const& rule : found->second) {
    if (!rule->draws.empty()) draws.clear();
    if (!rule->draws.empty() || !draws.empty()) draws.push_back(rule);
    changed.fixed = rule->draws.empty() ? rule->change.of(changed.fixed) : changed.fixed;
  }
  if (!draws.empty()) {
    changed.draws =
        std::make_shared<ThinkDraws>(std::move(draws), mixed(seed_ ^ exchange.sequence));
  }
  return changed;
}

}  // namespace reprise
