#include "proxy/replay/response/think_rules.h"

#include <algorithm>
#include <iterator>

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

void ThinkRules::add(std::uint64_t sequence, std::shared_ptr<const Rule> rule) {
  OfExchange& exchange = exchanges_[sequence];
  auto& rules = exchange.rules;
  rules.push_back(std::move(rule));
  // Of two distributions the later one counts.
  auto const has_draws = [](const std::shared_ptr<const Rule>& each) {
    return !each->draws.empty();
  };
  auto const last = std::find_if(rules.rbegin(), rules.rend(), has_draws);
  if (last == rules.rend()) return;
  std::vector<std::shared_ptr<const Rule>> counting(std::prev(last.base()), rules.end());
  exchange.draws = std::make_shared<ThinkDraws>(std::move(counting), mixed(seed_ ^ sequence));
}

ThinkRules::Changed ThinkRules::of(const Exchange& exchange, std::chrono::nanoseconds usual) const {
  Changed changed{.fixed = usual, .draws = nullptr};
  auto const found = exchanges_.find(exchange.sequence);
  if (found == exchanges_.end()) return changed;
  for (auto const& rule : found->second.rules) {
    if (rule->draws.empty()) changed.fixed = rule->change.of(changed.fixed);
  }
  changed.draws = found->second.draws;
  return changed;
}

void ThinkRules::restart_draws() const {
  for (auto const& [sequence, exchange] : exchanges_) {
    if (exchange.draws != nullptr) exchange.draws->restart();
  }
}

}  // namespace reprise
