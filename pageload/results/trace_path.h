#pragma once

// Where the browser's trace of a load is.

#include <filesystem>

#include "pageload/results/page_load.h"

namespace reprise {

/// The trace of `page`, which the file `result` has. A result names it as `load --trace` was given,
/// so a relative path is looked for from the result's folder, then from the working folder; last,
/// its file name is looked for beside the result. If it is nowhere, returns that last place. Empty
/// if the load has no trace.
std::filesystem::path trace_path(const PageLoad& page, const std::filesystem::path& result);

}  // namespace reprise
