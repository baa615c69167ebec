#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "shaper/packet/far_servers.h"
#include "shaper/packet/link_report.h"
#include "shaper/packet/link_series.h"
#include "shaper/packet/self_check.h"
#include "shaper/profile.h"

namespace reprise {

/// What a link did over time, in spans that begin and end together.
struct LinkTimelines {
  LinkTimeline down;
  LinkTimeline up;
};

/// All that a packet shell has to say about a run.
struct PacketRun {
  LinkProfile profile;
  std::uint64_t seed = 0;
  std::string congestion;
  bool keep_awake = false;  ///< see AwakeProcessors
  FarServers::Delays far_servers;
  SelfCheck self_check;  ///< skipped says so when it did not take place
  LinkReport link;
  std::optional<LinkTimelines> timelines;  ///< when they were asked for
};

/// What late packets may cost an exchange that took `span` before it is doubtful: one percent of
/// it, the smallest effect that a gate looks for by default, but at least kLatenessMax.
inline std::chrono::nanoseconds tolerated_lateness(std::chrono::nanoseconds span) {
  return std::max<std::chrono::nanoseconds>(kLatenessMax, span / 100);
}

/// Warnings about the run's figures, as sentences: the self-check's deviations, lateness that cost
/// more than tolerated_lateness(), packets lost outside the link. Empty if there are none.
std::vector<std::string> warnings_of(const PacketRun& run);

/// For results and reports: the link's settings, seed and kind, the measurements, all "warnings",
/// and those but for lateness ("doubts"), of which "deviations" have a share. Those who know what
/// was exchanged judge the cost of lateness and the shares better.
boost::json::object to_json(const PacketRun& run);

/// The spans from the first to the last in which anything was on the link, as lists of numbers;
/// null when nothing ever was.
boost::json::value to_json(const LinkTimelines& timelines);

}  // namespace reprise
