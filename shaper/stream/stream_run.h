#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "shaper/profile.h"
#include "shaper/stream/stream_check.h"
#include "shaper/stream/stream_shell.h"

namespace reprise {

/// All that a stream shell has to say about a run.
struct StreamRun {
  LinkProfile profile;
  std::uint64_t seed = 0;
  std::string instead_of;  ///< why it was not packets, when that was tried
  StreamCheck self_check;
  StreamReport link;
};

/// Sentences about what makes the run's figures more doubtful than those of a model are anyway: the
/// self-check's deviations, events that were late. Empty is good.
std::vector<std::string> warnings_of(const StreamRun& run);

/// For results and reports: as that of a packet run, and marked approximate.
boost::json::object to_json(const StreamRun& run);

}  // namespace reprise
