#pragma once

#include <string>
#include <vector>

#include "analysis/comparison.h"

namespace reprise {

/// Which of a page's metrics `gate --why` explains: the first that is different and worse in B,
/// else the first that is different; the end if none is.
std::vector<ComparedMetric>::const_iterator metric_to_explain(
    const std::vector<ComparedMetric>& metrics);

/// Of a page that differs: a sentence if only its failed loads do, or if more loads of B fail and
/// no metric is worse. Then there is no difference in time to explain. Names the metrics. Untrusted
/// text.
std::string only_failures_text(const ComparedPage& page);

}  // namespace reprise
