#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "shaper/packet/far_servers.h"
#include "shaper/packet/link_report.h"
#include "shaper/packet/self_check.h"
#include "shaper/profile.h"

namespace reprise {

/// All that a packet shell has to say about a run.
struct PacketRun {
  LinkProfile profile;
  std::uint64_t seed = 0;
  std::string congestion;
  FarServers::Delays far_servers;
  SelfCheck self_check;  ///< skipped says so when it did not take place
  LinkReport link;
};

/// Sentences about what makes the run's figures doubtful: the self-check's deviations, lateness
/// over kLatenessMax, packets lost outside the link. Empty is good.
std::vector<std::string> doubts_of(const PacketRun& run);

/// For results and reports: the link's numbers, seed, kind, what was measured, and the doubts.
boost::json::object to_json(const PacketRun& run);

}  // namespace reprise
