#pragma once

// Which pages of a shard `reprise record` has recorded, from its corpus.json. Pure.

#include <boost/json/object.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/campaign/page_failure.h"
#include "analysis/campaign/plan.h"

namespace reprise {

struct RecordedPages {
  std::vector<PageFailure> failures;  ///< of pages without an archive, in the shard's order
  /// Pages that corpus.json does not have: `reprise record` ended before them, such as on a full
  /// disk.
  std::size_t unreached = 0;
};

/// `corpus` is the object in corpus.json (`reprise-corpus/1`); without such a file it is empty.
RecordedPages recorded_pages(const Plan& plan, const Shard& shard,
                             const boost::json::object& corpus);

/// "the pages 'a', 'b' cannot be recorded": the same text if the same pages fail.
std::string not_recorded_text(const Plan& plan, const std::vector<PageFailure>& failures);

}  // namespace reprise
