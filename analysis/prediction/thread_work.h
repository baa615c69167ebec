#pragma once

// What the main thread did in an observed load, and what waited for it. Pure.

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/page_nodes.h"
#include "analysis/prediction/load_parts.h"
#include "analysis/prediction/main_thread.h"

namespace reprise {

/// Finds the work beside the scripts that are nodes: a piece of it follows what came last before it
/// began, a document, a style sheet, or a script's run. Marks the nodes that take turns with it.
/// Finds what they waited for if the thread was busy from before their response came until they
/// started: with work that the response did not cause, such as laying out the document. Finds the
/// layout before the first paint. Nothing is found if nothing is known of the thread.
void find_thread_work(const DependencyGraph& graph, const PlacedLoad& placed,
                      const MainThread& thread, LoadParts& parts);

}  // namespace reprise
