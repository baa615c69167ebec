#pragma once

// In words, what sets a recorded request apart from one that is asked. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "archive/match/request.h"

namespace reprise {

inline constexpr std::size_t kDifferencesMax = 16;

/// What differs, one phrase each, parameters first, at most kDifferencesMax; `recorded.body` and
/// `asked.body` are taken apart where they are there. Empty when nothing that counts does. Values
/// are cut short.
std::vector<std::string> differences(const AskedRequest& recorded, const AskedRequest& asked,
                                     const std::vector<std::string>& ignored_params);

/// Cut short where it is long.
std::string shown(std::string_view text);

/// The first of them, and how many more there are.
std::string summary(const std::vector<std::string>& phrases);

}  // namespace reprise
