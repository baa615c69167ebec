#pragma once

// What `reprise why` found, for people and for programs.

#include <boost/json/object.hpp>
#include <string>

#include "analysis/metric.h"
#include "tools/why/why_run.h"

namespace reprise {

/// The causes, what could not be shown, what is unexplained. `markdown`: for a comment on a change.
std::string why_text(const WhyRun& run, bool markdown);

/// What B costs by so many loads, and if they do not show that B differs, what the gate found.
std::string total_text(const WhyOptions& options, const EstimatedEffect& total, std::size_t loads);

/// What two causes that cost `one` and `other` do to each other, as the end of a sentence.
/// `together`: the effect of a CausePair.
std::string interaction_text(double one, double other, const EstimatedEffect& together,
                             Metric::Unit unit);

/// Schema `reprise-why/1`; docs/why.md describes it.
boost::json::object why_json(const WhyRun& run);

}  // namespace reprise
