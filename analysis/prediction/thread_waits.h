#pragma once

// What was ready to run in an observed load, but waited for the main thread. Pure.

#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/page_nodes.h"
#include "analysis/prediction/load_parts.h"
#include "analysis/prediction/main_thread.h"

namespace reprise {

/// Finds what a script, or the load event, waited for if the thread was busy from before its
/// response came until it started: with work that the response did not cause, such as laying out
/// the document. This work follows what came last before it began: a document, a style sheet, or
/// another script's run. Sets `thread` of such nodes.
void find_thread_waits(const DependencyGraph& graph, const PlacedLoad& placed,
                       const MainThread& thread, std::vector<NodeParts>& nodes);

}  // namespace reprise
