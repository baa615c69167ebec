#pragma once

// Selects the recorded exchanges to compare a request with, and scores them: MATCHING.md, "Cost".
// Pure.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "archive/match/index.h"
#include "archive/match/score.h"

namespace reprise {

struct Candidate {
  std::uint32_t member = 0;   ///< of the match index
  std::uint32_t ordinal = 0;  ///< of the archive
  unsigned score = 0;         ///< percent
};

/// At most kMax exchanges of one group. A value of a few kilobytes.
struct Candidates {
  static constexpr std::size_t kMax = 256;
  static constexpr std::size_t kListsMax = kFeaturesMax + 2;

  std::span<const Candidate> found() const { return std::span(all).first(count); }

  std::array<Candidate, kMax> all;
  std::size_t count = 0;
  std::uint32_t first_member = 0;  ///< of the group
  std::uint32_t lists_read = 0;    ///< the cost
};

/// `asked`: the features of the request, sorted.
/// `from`: where to start in a list too long to be read completely, as a member of the group.
Candidates find_candidates(const MatchIndexView& index, std::uint64_t group_hash,
                           std::vector<Feature> asked, std::uint32_t from);

}  // namespace reprise
