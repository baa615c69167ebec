#pragma once

#include <cstdint>
#include <vector>

#include "archive/reader.h"
#include "dns/plan.h"

namespace reprise {

/// The hosts of a session with the addresses that they were reached at, and what DNS said of them,
/// by first appearance: what dns::Plan numbers. `session` 0 is the one that a replay would choose.
/// A host that never gave anything is left out, so that it fails in a replay, too. Errors: corrupt.
Result<std::vector<dns::RecordedHost>> recorded_hosts(const ArchiveReader& archive,
                                                      std::uint32_t session);

}  // namespace reprise
