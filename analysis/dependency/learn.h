#pragma once

// Learns a page's dependencies by watching loads. What watching cannot tell, perturbation.h asks.
// Pure.

#include <span>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_page.h"

namespace reprise {

/// The nodes of find_nodes() (page_nodes.h), and the edges that hold in every load with both ends:
///  - to a request from its initiator; if that is a script, from the script's task, if the loads
///    have tasks; and from the hop that redirected to it;
///  - to a request that the parser asked for after the end of its document, from the scripts that
///    had held it up, or from their runs, if the loads have these;
///  - to what a style sheet made the browser ask for (a font, a background) from all style sheets
///    that hold up the first layout, which finds it;
///  - to a task from its script, and if that holds up the parser, from the earlier such scripts and
///    style sheets of its document; to a listener of the document's end from all of them;
///  - to the first task of a script from its imports and, if the script is deferred, from the
///    earlier ones of its document with their imports;
///  - to a request or task whose start these do not explain, from earlier scripts and style sheets,
///    and from what scripts fetched, as long as each one makes the gap much steadier, in at least
///    three loads;
///  - where the earlier of two responses explains the start of what a script asked for, and their
///    later one does not, from both as alternatives, in at least four loads;
///  - to any other request from the document;
///  - to a request that waited for a connection of its host, from the request that left it;
///  - to milestones: to the load event and the last load from all requests that ended before; to
///    paints from the document, its style sheets and its scripts, to the largest one from its
///    image.
/// An edge goes from the last moment of its node that precedes the other in every load. `loads` are
/// of one page under the same conditions; a handful are enough to begin with.
DependencyGraph learn_dependencies(std::span<const ObservedPage> loads);

}  // namespace reprise
