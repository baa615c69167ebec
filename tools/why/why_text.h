#pragma once

// What `reprise why` found, for people and for programs.

#include <boost/json/object.hpp>
#include <string>

#include "tools/why/why_run.h"

namespace reprise {

/// The causes, what could not be shown, what is unexplained. `markdown`: for a comment on a change.
std::string why_text(const WhyRun& run, bool markdown);

/// Schema `reprise-why/1`; docs/why.md describes it.
boost::json::object why_json(const WhyRun& run);

}  // namespace reprise
