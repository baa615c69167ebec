#pragma once

// The quantiles of `--quantile`. Pure.

#include <array>
#include <cstddef>
#include <expected>
#include <string>
#include <vector>

namespace reprise {

/// If none is asked for.
inline constexpr std::array kPredictedQuantiles = {.5, .75, .9};
inline constexpr std::size_t kQuantilesMax = 100;

/// Numbers above 0 and below 1, in the order asked for, each once. The error is a sentence.
std::expected<std::vector<double>, std::string> asked_quantiles(
    const std::vector<std::string>& texts);

}  // namespace reprise
