#pragma once

#include <boost/json.hpp>
#include <string>

#include "proxy/replay/replay_session.h"

namespace reprise {

/// The report of `--report` and GET /status.
boost::json::object replay_report_json(const ReplayReport& report);
/// The response to GET /misses.
boost::json::array misses_json(const std::vector<Miss>& misses);

/// One line for users: hits, misses, share of the archive.
std::string counts_text(const ReplayCounts& counts);
/// The first misses with the nearest recorded request of each, and how many more there are; empty
/// if there were none. Lines end in a newline.
std::string misses_text(const std::vector<Miss>& misses);
/// One line about the waits; empty if there were none.
std::string waits_text(const ReplayReport& report);
/// The differences between replay and recording that users should know; empty if there are none.
/// Lines end in a newline.
std::string differences_text(const ReplayReport& report);

}  // namespace reprise
