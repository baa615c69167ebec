#pragma once

// Converts the inputs of `reprise view`, results of page loads and archives, to the model of its
// page.

#include <string_view>

#include "archive/reader.h"
#include "pageload/results/load_result.h"
#include "view/model.h"

namespace reprise {

/// Adds a result, shown as `name`. Pure.
void add_result(const LoadResult& result, std::string_view name, ViewModel& model);

/// Adds an archive, shown as `name`: each session is a load, by the recorded times. Damaged
/// exchanges are not shown, but mentioned in the remarks.
void add_archive(const ArchiveReader& archive, std::string_view name, ViewModel& model);

}  // namespace reprise
