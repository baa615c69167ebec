#pragma once

// Two folders of results, page by page: the sides of a set of `reprise campaign collect`.

#include <filesystem>

#include "tools/compare/compare_options.h"

namespace reprise {

/// Compares the files that have the same name in both, each at `alpha` divided by their number, so
/// that equal folders are called different at most so often. Holds one pair at a time. Pages that
/// the set names, and that have a file in neither folder, are named, and end it as refused ones do
/// unless pages may differ. Prints a line for each page, or JSON (`reprise-compare-set/1`); returns
/// the exit code: that of `reprise compare`, over all pages.
int compare_folders(const std::filesystem::path& a, const std::filesystem::path& b,
                    CompareOptions options, const CompareFlags& flags);

}  // namespace reprise
