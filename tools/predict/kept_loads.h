#pragma once

// Loads that `reprise predict -o FOLDER` kept, to predict other changes from.

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/experiment_side.h"

namespace reprise {

/// `words`, of `reprise load`, with the page and the options that the loads of `file` were made
/// with and that `words` do not give. Steps, which a result has only as texts, and flags of the
/// browser, which it does not have, stay as they are. Errors: a sentence that names the file, which
/// cannot be read.
std::expected<std::vector<std::string>, std::string> with_kept_options(
    std::vector<std::string> words, const std::filesystem::path& file);

/// Gives `side` the loads of a file as if it had made them. Returns why it cannot, a sentence that
/// names the file: it cannot be read, or its loads were made of another page, archive or what-if,
/// or under other conditions.
std::optional<std::string> take_kept_loads(ExperimentSide& side, const std::filesystem::path& file);

}  // namespace reprise
