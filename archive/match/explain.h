#pragma once

// Describes the differences between a recorded and a new request. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "archive/match/request.h"

namespace reprise {

inline constexpr std::size_t kDifferencesMax = 16;

/// The differences, one phrase each, parameters first, at most kDifferencesMax; `recorded.body` and
/// `asked.body` are split into parameters if present. Empty if nothing that counts differs. Values
/// are cut short.
std::vector<std::string> differences(const AskedRequest& recorded, const AskedRequest& asked,
                                     const std::vector<std::string>& ignored_params);

/// Cuts a long text short.
std::string shown(std::string_view text);

/// The first phrase, and the number of others.
std::string summary(const std::vector<std::string>& phrases);

}  // namespace reprise
