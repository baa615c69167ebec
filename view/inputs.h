#pragma once

// Converts the inputs of `reprise view`, results of page loads and archives, to the model of its
// page.

#include <functional>
#include <optional>
#include <string_view>

#include "analysis/visual/trace_visuals.h"
#include "archive/reader.h"
#include "pageload/results/load_result.h"
#include "view/model.h"

namespace reprise {

/// What the trace of a load shows; nothing if it has none.
using VisualsOf = std::function<std::optional<TraceVisuals>(const PageLoad& page)>;

/// Adds a result, shown as `name`, with what `visuals_of` finds.
void add_result(const LoadResult& result, std::string_view name, ViewModel& model,
                const VisualsOf& visuals_of = {});

/// Adds an archive, shown as `name`: each session is a load, by the recorded times. Damaged
/// exchanges are not shown, but mentioned in the remarks.
void add_archive(const ArchiveReader& archive, std::string_view name, ViewModel& model);

}  // namespace reprise
