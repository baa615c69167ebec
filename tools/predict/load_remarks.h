#pragma once

// What the loads that a page is predicted from, and those of the changed page, say against a
// prediction.

#include <string>
#include <vector>

#include "tools/experiment/experiment_side.h"

namespace reprise {

/// Sentences: requests that the archive does not have, packets that the link's queue dropped; if
/// the changed page was measured, also what it does less, and its loads that do not count.
/// `measured`: the changed page; null if it was not.
std::vector<std::string> load_remarks(const ExperimentSide& base, const ExperimentSide* measured);

}  // namespace reprise
