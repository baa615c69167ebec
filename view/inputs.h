#pragma once

// Converts the inputs of `reprise view`, results of page loads and archives, to the model of its
// page.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/visual/trace_visuals.h"
#include "archive/reader.h"
#include "pageload/results/load_result.h"
#include "view/model.h"
#include "view/redaction.h"

namespace reprise {

/// What the trace of a load shows; nothing if it has none.
using VisualsOf = std::function<std::optional<TraceVisuals>(const PageLoad& page)>;

/// Adds a result, shown as `name`, with what `visuals_of` finds.
void add_result(const LoadResult& result, std::string_view name, ViewModel& model,
                const VisualsOf& visuals_of = {});

/// Learns the secrets of the URLs of a result. Errors: too_large.
Result<void> learn_secrets(const LoadResult& result, Redaction& redaction);

struct NamedResult {
  const LoadResult& result;
  std::string name;
};

/// The page of these results, without their secrets; with what the requests wait for, if there is
/// `graph`, and with what `visuals_of` finds. Errors: too_large: they have too many secrets.
Result<std::string> results_page(std::span<const NamedResult> results,
                                 const DependencyGraph* graph = nullptr,
                                 const VisualsOf& visuals_of = {});

/// Adds an archive, shown as `name`: each session is a load, by the recorded times, with what its
/// requests wait for, by the graph of the page that it requested first of those that have one.
/// Damaged exchanges are not shown, but mentioned in the remarks.
void add_archive(const ArchiveReader& archive, std::string_view name, ViewModel& model,
                 std::span<const DependencyGraph> graphs = {});

}  // namespace reprise
