#pragma once

#include <vector>

#include "analysis/comparison.h"

namespace reprise {

/// Which of a page's metrics `gate --why` explains: the first that is different and worse in B,
/// else the first that is different, else the first. At least one metric.
std::vector<ComparedMetric>::const_iterator metric_to_explain(
    const std::vector<ComparedMetric>& metrics);

}  // namespace reprise
