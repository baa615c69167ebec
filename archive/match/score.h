#pragma once

// Scores how well a recorded request matches a new one: MATCHING.md has the table. Pure.

#include <cstdint>
#include <span>

#include "archive/match/features.h"

namespace reprise {

/// In percent; below it there is no answer.
inline constexpr unsigned kScoreMin = 60;

/// 0 to 100; 100 only if everything that counts is equal. Both sorted, with their relevance.
unsigned score(std::span<const Feature> asked, std::span<const Feature> recorded);

}  // namespace reprise
