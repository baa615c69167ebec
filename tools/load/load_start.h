#pragma once

// What comes before the first load, for `reprise load` and each side of `reprise gate`.

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "pageload/results/load_result.h"
#include "tools/load/load_options.h"

namespace reprise {

struct LoadRefusal {
  int exit_code;
  std::string text;  ///< a sentence
};

/// The pages that are asked for; without any, those that the session to be replayed was started
/// with.
std::expected<std::vector<std::string>, LoadRefusal> pages_to_load(
    const LoadOptions& options, const std::filesystem::path& archive);

/// A result without loads.
LoadResult empty_result(const LoadOptions& options, const std::filesystem::path& archive);

}  // namespace reprise
