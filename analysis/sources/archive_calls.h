#pragma once

// The call trees of an archive, by the times that were recorded.

#include <vector>

#include "analysis/calls/call.h"
#include "archive/reader.h"

namespace reprise {

/// One tree a session, from its first request to its last response: an archive has no load event,
/// and what asked for a request is known by its Referer alone. Exchanges without times, as many
/// importers have to leave them, are a loss; a session of such exchanges alone is one of `losses`.
/// A damaged exchange is a loss.
std::vector<CallTree> calls_of(const ArchiveReader& archive, std::vector<CallLoss>& losses);

}  // namespace reprise
