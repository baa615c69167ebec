#pragma once

// Learns from a recording which parameters of a path matter: MATCHING.md. Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "archive/match/features.h"

namespace reprise {

inline constexpr std::size_t kLearntFromMax = 65'536;  ///< exchanges of one family

/// One exchange, as input for learning.
struct Observation {
  std::span<const Feature> features;  ///< sorted
  std::uint64_t response = 0;         ///< hash of what is compared of it
};

/// A name and the effect of its values on the response, as one number: the name at the top, then as
/// in a feature 4 bits variety, 2 bits unused, 2 bits relevance.
using LearntName = std::uint32_t;
constexpr LearntName learnt_name(std::uint32_t name, Relevance relevance, unsigned variety) {
  return name << 8 | variety << 4 | static_cast<std::uint32_t>(relevance);
}

/// All names that are not ordinary, ascending. `family`: the exchanges of one method, scheme, host,
/// port and path, in recorded order; only the first kLearntFromMax are used. `counters`: names that
/// do not select (counters.h), ascending.
std::vector<LearntName> learn(std::span<const Observation> family,
                              std::span<const std::uint32_t> counters = {});

/// Sets the relevance of every feature.
void mark(std::span<const LearntName> learnt, std::span<Feature> features);

}  // namespace reprise
