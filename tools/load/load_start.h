#pragma once

// The steps before the first load, for `reprise load` and each side of `reprise gate`.

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

/// The requested pages; by default those with which the replayed session was started.
std::expected<std::vector<std::string>, LoadRefusal> pages_to_load(
    const LoadOptions& options, const std::filesystem::path& archive);

/// A result without loads.
LoadResult empty_result(const LoadOptions& options, const std::filesystem::path& archive);

}  // namespace reprise
