#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "shaper/profile.h"
#include "shaper/stream/stream_check.h"
#include "shaper/stream/stream_shell.h"

namespace reprise {

/// The results of a stream shell's run.
struct StreamRun {
  LinkProfile profile;
  std::uint64_t seed = 0;
  std::string instead_of;  ///< why packets were not possible, if they were tried
  StreamCheck self_check;
  StreamReport link;
};

/// Warnings about the run's figures, beyond those of any model, as sentences: the self-check's
/// deviations, late events. Empty if there are none.
std::vector<std::string> warnings_of(const StreamRun& run);

/// For results and reports: as for a packet run, and marked approximate. "doubts" are all
/// "warnings": the cost of late events is not known.
boost::json::object to_json(const StreamRun& run);

}  // namespace reprise
