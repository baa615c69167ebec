#include "archive/match/score.h"

#include <algorithm>

namespace reprise {
namespace {

// Weights and points, in fortieths of an ordinary parameter.
constexpr unsigned kOrdinaryWeight = 40;
constexpr unsigned kVolatileWeight = 5;
constexpr unsigned kVolatileDiffers = 4;
constexpr unsigned kPlainDiffers = 16;
constexpr unsigned kRandomDiffers = 32;
constexpr unsigned kTimeDiffers = 36;

struct Tally {
  std::uint64_t earned = kOrdinaryWeight;  // the path
  std::uint64_t weight = kOrdinaryWeight;
  std::uint64_t selecting = 0;         // number of names
  std::uint64_t selecting_weight = 0;  // by variety
  std::uint64_t selecting_earned = 0;

  /// Adds one name, like `of`: how many of its values are equal, differ, and are on one side only.
  void add(Feature of, unsigned equal, unsigned differing, unsigned alone,
           unsigned earned_by_differing) {
    auto const all = equal + differing + alone;
    if (relevance_of(of) == Relevance::kSelecting) {
      auto const each = std::max(1U, variety_of(of));
      selecting += all;
      selecting_weight += std::uint64_t{each} * all;
      selecting_earned += std::uint64_t{each} * equal;
      return;
    }
    bool const is_volatile = relevance_of(of) == Relevance::kVolatile;
    auto const each = is_volatile ? kVolatileWeight : kOrdinaryWeight;
    weight += std::uint64_t{each} * all;
    earned += std::uint64_t{each} * equal;
    earned += std::uint64_t{is_volatile ? kVolatileDiffers : earned_by_differing} * differing;
  }
  unsigned percent() const {
    if (selecting == 0) return static_cast<unsigned>(earned * 100 / weight);
    // Each selecting parameter weighs as much as all others together; this weight is distributed by
    // their variety.
    auto const total = weight * (1 + selecting) * selecting_weight;
    auto const got = earned * selecting_weight + weight * selecting * selecting_earned;
    return static_cast<unsigned>(got * 100 / total);
  }
};

unsigned earned_by(Shape a, Shape b) {
  if (a != b || a == Shape::kPlain) return kPlainDiffers;
  return a == Shape::kTime ? kTimeDiffers : kRandomDiffers;
}

using Side = std::span<const Feature>;

/// Removes and returns the features with the name of the first.
Side take_run(Side& side) {
  std::size_t count = 1;
  while (count < side.size() && name_of(side[count]) == name_of(side[0])) ++count;
  auto const run = side.first(count);
  side = side.subspan(count);
  return run;
}

void compare_runs(Side asked, Side recorded, Tally& tally) {
  if (asked.size() == 1 && recorded.size() == 1) {
    unsigned const equal = identity_of(asked[0]) == identity_of(recorded[0]) ? 1 : 0;
    tally.add(recorded[0], equal, 1 - equal, 0,
              earned_by(shape_of(asked[0]), shape_of(recorded[0])));
    return;
  }
  unsigned equal = 0;
  for (std::size_t a = 0, r = 0; a < asked.size() && r < recorded.size();) {
    auto const left = identity_of(asked[a]);
    auto const right = identity_of(recorded[r]);
    if (left == right) ++equal;
    if (left <= right) ++a;
    if (right <= left) ++r;
  }
  auto const shorter = static_cast<unsigned>(std::min(asked.size(), recorded.size()));
  auto const longer = static_cast<unsigned>(std::max(asked.size(), recorded.size()));
  tally.add(recorded[0], equal, shorter - equal, longer - shorter, kPlainDiffers);
}

}  // namespace

unsigned score(Side asked, Side recorded) {
  Tally tally;
  while (!asked.empty() || !recorded.empty()) {
    auto const next_asked = asked.empty() ? UINT32_MAX : name_of(asked[0]);
    auto const next_recorded = recorded.empty() ? UINT32_MAX : name_of(recorded[0]);
    auto const name = std::min(next_asked, next_recorded);
    auto const of_asked = name == next_asked ? take_run(asked) : Side();
    auto const of_recorded = name == next_recorded ? take_run(recorded) : Side();
    if (!of_asked.empty() && !of_recorded.empty()) {
      compare_runs(of_asked, of_recorded, tally);
    } else {
      auto const alone = of_asked.empty() ? of_recorded : of_asked;
      tally.add(alone[0], 0, 0, static_cast<unsigned>(alone.size()), 0);
    }
  }
  return tally.percent();
}

}  // namespace reprise
