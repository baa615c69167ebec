#pragma once

// Which of many changes to measure first, and which not at all. Pure.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace reprise {

struct PromisedChange {
  double saving_ms = 0;
  std::string group;           ///< see ChangeCandidate
  bool saves_nothing = false;  ///< as far as is predicted
  double share_ms = 0;         ///< see ChangeCandidate
};

/// Their places, the one that promises most first; of equal ones, in the order given. Of a group,
/// all but the best stand behind the others. Behind all these are those that save nothing, the one
/// with the largest share first, and again all but the first of a group behind the others.
std::vector<std::size_t> by_promise(std::span<const PromisedChange> changes);

/// How many changes can be measured.
struct AdvicePlaces {
  std::size_t asked = 6;  ///< at most so many
  std::size_t paid = 6;   ///< of these, those that the budget pays for
  /// Of these, those of which it pays for twice as many loads: only so much is spent on changes
  /// that save nothing as far as is predicted, if others could help.
  std::size_t spare = 6;
};

enum class AdvicePlace {
  kMeasured,
  kSavesNothing,  ///< not measured: it would only fill a place
  kNotPaid,       ///< not measured: the budget is too short
  kNotAsked,      ///< not measured: as many as are asked for promise more
};

/// Of the change at `rank` (from 0) of by_promise(), of which the first `could_help` are not
/// predicted to save nothing.
AdvicePlace place_of(std::size_t rank, std::size_t could_help, const AdvicePlaces& places);

}  // namespace reprise
