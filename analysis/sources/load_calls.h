#pragma once

// The call trees of a result of `reprise load`. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/calls/call.h"
#include "pageload/results/load_result.h"

namespace reprise {

/// One load as a call tree.
struct LoadCalls {
  std::size_t load = 0;  ///< its place in LoadResult::loads
  CallTree tree;
};

/// Of the loads that count: loaded, not a warm-up, not skipped. The window ends with the load event
/// (without one, with the last request). Tags: browser, protocol, link, cache, archive. The loads
/// that do not count are a loss of `losses`.
std::vector<LoadCalls> calls_of(const LoadResult& result, std::vector<CallLoss>& losses);

/// The URLs that a trace of the load can have for its page, without fragments: the one asked for,
/// the one that answered after redirects, and the one that scripts left in the address bar. The
/// trace has what the document came from; history.replaceState() changes only the last one.
std::vector<std::string> urls_in_trace(const PageLoad& page);

}  // namespace reprise
