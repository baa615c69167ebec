#pragma once

// The allotment of a budget over arms that are each measured a limited number of times. Pure.

#include "analysis/allotment/allotment.h"

namespace reprise {

/// As allot(), with at most `most` measurements of each arm, `least` if that is more. What an arm
/// does not take for this reason goes to the others. Errors: those of allot().
std::expected<std::vector<std::size_t>, std::string> allot_capped(
    std::span<const AllotmentArm> arms, double budget, std::size_t least, std::size_t most);

}  // namespace reprise
