#include "analysis/effects/cause_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reprise {
namespace {

std::vector<CausePart> runs_of(std::size_t causes, std::size_t parts) {
  std::vector<CausePart> made(std::min(causes, parts));
  for (std::size_t cause = 0; cause < causes; ++cause) {
    made[cause * made.size() / causes].push_back(cause);
  }
  return made;
}

/// How often the largest part can be halved.
std::size_t halvings(const std::vector<CausePart>& parts) {
  std::size_t largest = 1;
  for (const CausePart& part : parts) largest = std::max(largest, part.size());
  std::size_t count = 0;
  for (; largest > 1; largest = (largest + 1) / 2) ++count;
  return count;
}

}  // namespace

CauseSearch::CauseSearch(const CauseSearchOptions& options)
    : options_(options),
      parts_(runs_of(options.causes, options.parts_most)),
      random_(options.seed) {
  next_look_ = std::max(kRoundsLeast, parts_.size() / 2 + 1);
  looks_most_ = halvings(parts_) + kMoreLooks;
}

std::vector<EffectRow> CauseSearch::next_round() {
  std::vector<EffectRow> round;
  round.push_back({.in = std::vector<bool>(options_.causes, false)});
  round.push_back({.in = std::vector<bool>(options_.causes, true), .is_b = true});
  for (std::size_t i = 0; i < kHybrids; i += 2) {
    EffectRow hybrid{.in = std::vector<bool>(options_.causes)};
    for (const CausePart& part : parts_) {
      bool const in = (random_() >> 63) != 0;
      for (std::size_t const cause : part) hybrid.in[cause] = in;
    }
    auto complement = hybrid;
    complement.in.flip();
    round.push_back(std::move(hybrid));
    round.push_back(std::move(complement));
  }
  std::ranges::shuffle(round, random_);
  return round;
}

std::optional<Effects> CauseSearch::effects() const {
  return estimate_effects(rows_, parts_, options_.alpha / static_cast<double>(looks_most_));
}

bool CauseSearch::goes_on() {
  if (++rounds_ < next_look_) return true;
  next_look_ = rounds_ + std::max(kRoundsLeast, parts_.size() / 3);
  auto const known = effects();
  if (!known) return true;
  if (++looks_ == looks_most_) return false;
  if (halve(*known)) return true;
  auto const little = std::max(options_.least, kLittle * std::abs(known->total.estimate));
  bool const decided = std::ranges::all_of(known->parts, [little](const EstimatedEffect& each) {
    return each.is_within(little) ||
           (each.is_shown() && each.high - each.low <= std::abs(each.estimate));
  });
  next_look_ = 2 * rounds_;
  return !decided;
}

bool CauseSearch::halve(const Effects& effects) {
  std::vector<CausePart> finer;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const CausePart& part = parts_[i];
    auto const& effect = effects.parts[i];
    bool const matters = effect.is_shown() && std::abs(effect.estimate) >= options_.least;
    if (part.size() == 1 || !matters) {
      finer.push_back(part);
      continue;
    }
    auto const middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
    finer.emplace_back(part.begin(), middle);
    finer.emplace_back(middle, part.end());
  }
  bool const halved = finer.size() > parts_.size();
  if (halved) parts_before_ = std::exchange(parts_, std::move(finer));
  return halved;
}

}  // namespace reprise
