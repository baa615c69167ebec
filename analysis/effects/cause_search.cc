#include "analysis/effects/cause_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
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

constexpr std::size_t kCandidates = 16;  // random hybrids, of which one is taken

/// Those in which the causes of each part are together.
std::vector<EffectRow> rows_of_whole(const std::vector<EffectRow>& rows,
                                     const std::vector<CausePart>& parts) {
  std::vector<EffectRow> whole;
  std::ranges::copy_if(rows, std::back_inserter(whole), [&parts](const EffectRow& row) {
    return std::ranges::all_of(parts, [&row](const CausePart& part) {
      return std::ranges::all_of(
          part, [&](std::size_t cause) { return row.in[cause] == row.in[part.front()]; });
    });
  });
  return whole;
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
    auto hybrid = draw_hybrid();
    auto complement = hybrid;
    complement.in.flip();
    round.push_back(std::move(hybrid));
    round.push_back(std::move(complement));
  }
  for (EffectRow& row : round) row.phase = phase_;
  std::ranges::shuffle(round, random_);
  return round;
}

EffectRow CauseSearch::draw_hybrid() {
  // By parts i < j: hybrids in which both or neither were in, less those with one of them.
  std::vector<std::vector<double>> together(parts_.size(), std::vector<double>(parts_.size()));
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    for (std::size_t j = i + 1; j < parts_.size(); ++j) {
      for (auto const& in : drawn_) {
        together[i][j] += in[parts_[i].front()] == in[parts_[j].front()] ? 1 : -1;
      }
    }
  }
  std::vector<bool> best;
  auto least = std::numeric_limits<double>::infinity();
  for (std::size_t candidate = 0; candidate < kCandidates; ++candidate) {
    std::vector<bool> in(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) in[i] = (random_() >> 63) != 0;
    double sum = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (std::size_t j = i + 1; j < parts_.size(); ++j) {
        sum += std::pow(together[i][j] + (in[i] == in[j] ? 1 : -1), 2);
      }
    }
    if (sum < least) best = std::move(in);
    least = std::min(least, sum);
  }
  EffectRow hybrid{.in = std::vector<bool>(options_.causes)};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    for (std::size_t const cause : parts_[i]) hybrid.in[cause] = best[i];
  }
  drawn_.push_back(hybrid.in);
  return hybrid;
}

std::optional<Effects> CauseSearch::effects() const {
  return estimate_effects(rows_, parts_, level());
}

std::optional<Effects> CauseSearch::finish() {
  auto known = effects();
  auto rows = rows_;
  if (!known && !parts_before_.empty()) {
    parts_ = parts_before_;
    rows = rows_of_whole(rows_, parts_);
    known = estimate_effects(rows, parts_, level());
  }
  if (!known) return std::nullopt;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (known->parts[i].is_shown()) shown.push_back(i);
  }
  if (shown.size() > kActingMost) return known;
  auto acting = estimate_effects(rows, parts_, level(), shown);
  if (!acting) return known;
  std::erase_if(acting->pairs, [](const Interaction& pair) { return !pair.effect.is_shown(); });
  return acting->pairs.empty() ? known : acting;
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
  if (halved) {
    parts_before_ = std::exchange(parts_, std::move(finer));
    ++phase_;
  }
  return halved;
}

}  // namespace reprise
