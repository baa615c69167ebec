#pragma once

// What a replay says about the page load that it served. Pure.

#include <string>

#include "pageload/results/page_load.h"
#include "pageload/results/replay_summary.h"

namespace reprise {

/// Adds to `page` what the replay knows better than the browser: hits, misses, the cost of late
/// packets, and what the browser asked for of its own. A page that the replay did not have, or of
/// which it was asked for nothing, is no load, whatever the browser showed for it: its outcome
/// becomes kNotInArchive, and times and scores, those of another page, go.
void add_replay_report(PageLoad& page, const ReplaySummary& report);

/// Removes the steps in which the cost of late packets grew from a report, 20 KB or so: once the
/// load's lateness is known, no reader of a result needs them.
void drop_lateness_growth(ReplaySummary& report);

/// The lines of a replay's standard error that begin with "reprise: "; the others are chatter.
std::string lines_for_people(const std::string& text);

}  // namespace reprise
