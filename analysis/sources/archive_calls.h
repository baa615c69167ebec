#pragma once

// The call trees of an archive, by the times that were recorded.

#include <cstddef>
#include <vector>

#include "analysis/calls/call.h"
#include "archive/reader.h"

namespace reprise {

/// One session as a call tree.
struct SessionCallTree {
  std::size_t place = 0;  ///< among the sessions with exchanges, in the order of their numbers
  CallTree tree;
};

/// One tree a session, from its first request to its last response: an archive has no load event,
/// and what asked for a request is known by its Referer alone. Exchanges without times, as many
/// importers have to leave them, are a loss; a session of such exchanges alone is one of `losses`.
/// A damaged exchange is a loss.
std::vector<SessionCallTree> calls_of(const ArchiveReader& archive, std::vector<CallLoss>& losses);

}  // namespace reprise
