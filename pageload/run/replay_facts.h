#pragma once

// What a replay says about the page load that it served. Pure.

#include <string>

#include "pageload/results/page_load.h"
#include "pageload/results/replay_summary.h"

namespace reprise {

/// Adds to `page` what the replay knows better than the browser: hits, misses, its own processor
/// time, and what the browser asked for of its own. A page that the replay did not have, or of
/// which it was asked for nothing, is no load, whatever the browser showed for it: its outcome
/// becomes kNotInArchive, and times and scores, those of another page, go.
void add_replay_report(PageLoad& page, const ReplaySummary& report);

/// The lines of a replay's standard error that begin with "reprise: "; the others are chatter.
std::string lines_for_people(const std::string& text);

}  // namespace reprise
