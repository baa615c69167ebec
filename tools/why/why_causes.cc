#include <algorithm>
#include <ranges>
#include <utility>

#include "tools/why/why_run.h"

namespace reprise {

void WhyRun::rank(const std::vector<CausePart>& parts) {
  align_rows();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Cause cause{.groups = {}, .part = i, .effect = effects_->parts[i], .rows = {}};
    for (auto const each : parts[i]) cause.groups.push_back(candidates_[each]);
    // The loads do not tell them apart: first what changed most.
    std::vector<std::pair<double, std::size_t>> changes;
    for (auto const group : cause.groups) changes.emplace_back(-aligned_->change_ms(group), group);
    std::ranges::sort(changes);
    std::ranges::copy(changes | std::views::values, cause.groups.begin());
    cause.rows = aligned_->of_groups(cause.groups);
    (cause.effect.is_shown() ? causes_ : others_).push_back(std::move(cause));
  }
  auto const sign = effects_->total.estimate < 0 ? -1.0 : 1.0;
  for (auto* const list : {&causes_, &others_}) {
    std::ranges::sort(*list, [sign](const Cause& a, const Cause& b) {
      return std::pair(-sign * a.effect.estimate, a.groups) <
             std::pair(-sign * b.effect.estimate, b.groups);
    });
  }
  for (const Interaction& pair : effects_->pairs) {
    auto const first = std::ranges::find(causes_, pair.first, &Cause::part);
    auto const second = std::ranges::find(causes_, pair.second, &Cause::part);
    if (first == causes_.end() || second == causes_.end()) continue;
    auto const place = [this](auto cause) {
      return static_cast<std::size_t>(cause - causes_.begin());
    };
    pairs_.push_back({.first = place(first), .second = place(second), .effect = pair.effect});
  }
}

void WhyRun::align_rows() {
  Waterfall of_a;
  Waterfall of_b;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].counts) continue;
    auto const& load = loads_.loads[i].page;
    if (rows_[i].row.is_b) of_b.add(load);
    if (std::ranges::find(rows_[i].row.in, true) == rows_[i].row.in.end()) of_a.add(load);
  }
  aligned_.emplace(differences_, of_a, of_b);
}

std::vector<std::size_t> WhyRun::not_measured() const {
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < differences_.groups.size(); ++i) {
    if (!differences_.groups[i].can_be_put_in) groups.push_back(i);
  }
  return groups;
}

}  // namespace reprise
