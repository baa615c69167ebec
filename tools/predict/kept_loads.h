#pragma once

// Loads that `reprise predict -o FOLDER` kept, to predict other changes from.

#include <filesystem>
#include <optional>
#include <string>

#include "tools/experiment/experiment_side.h"

namespace reprise {

/// Gives `side` the loads of a file as if it had made them. Returns why it cannot, a sentence that
/// names the file: it cannot be read, or its loads were made of another page, archive or what-if,
/// or under other conditions.
std::optional<std::string> take_kept_loads(ExperimentSide& side, const std::filesystem::path& file);

}  // namespace reprise
