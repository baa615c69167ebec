#pragma once

// Why one load, or request, took longer than another one: for people and for programs.

#include <boost/json/object.hpp>
#include <string>

#include "analysis/timelines/timelines.h"
#include "tools/why/timeline_sides.h"

namespace reprise {

struct TimelineReport {
  const TimelineSide& a;
  const TimelineSide& b;
  TimelineDifference found;
};

/// The requests in the order of what they cost, and what is between them. `markdown`: for a
/// comment.
std::string timeline_text(const TimelineReport& report, bool markdown);

/// Schema `reprise-why/1`, with `measured` false; docs/why.md describes it.
boost::json::object timeline_json(const TimelineReport& report);

}  // namespace reprise
