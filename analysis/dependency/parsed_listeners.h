#pragma once

// Which callbacks are listeners of DOMContentLoaded, by when they ran. Pure.

#include <span>
#include <vector>

#include "analysis/dependency/observed_page.h"
#include "analysis/dependency/page_nodes.h"

namespace reprise {

/// By node, whether it is a callback that in every load with it ran within the page's
/// DOMContentLoaded event, which comes once the parser is done and all deferred scripts have run
/// (HTML 13.2.7). Browsers name no event of a callback, but tell when this event ended: what ran
/// just before it, without a script that the parser runs in between. `places`: of `loads`.
std::vector<bool> find_parsed_listeners(const std::vector<DependencyNode>& nodes,
                                        std::span<const ObservedPage> loads,
                                        std::span<const PlacedLoad> places);

}  // namespace reprise
