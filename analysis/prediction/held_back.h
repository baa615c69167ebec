#pragma once

// What the browser of an observed load held back (held_requests.h). Pure.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/dependency/page_nodes.h"
#include "analysis/prediction/load_parts.h"
#include "analysis/prediction/load_setups.h"

namespace reprise {

/// Marks the requests that were held back in the head. Of these and of delayed ones, keeps as the
/// wait only what was left of it when they could go on. `requests`: numbers of nodes.
void find_held_back(std::span<const std::uint32_t> requests, const PlacedLoad& placed,
                    std::span<const SetupPhase> setups, std::vector<NodeParts>& nodes);

}  // namespace reprise
