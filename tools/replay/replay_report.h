#pragma once

#include <boost/json.hpp>
#include <string>

#include "proxy/replay/replay_session.h"

namespace reprise {

/// What `--report` and GET /status say of a replay.
boost::json::object replay_report_json(const ReplayReport& report);
/// What GET /misses says.
boost::json::array misses_json(const std::vector<Miss>& misses);

/// One line for people: hits, misses, share of the archive.
std::string counts_text(const ReplayCounts& counts);
/// What was waited for, a line; empty when nothing was.
std::string waits_text(const ReplayReport& report);
/// What the user must know who takes the replay for the recording; empty when there is nothing.
/// Lines end in a newline.
std::string differences_text(const ReplayReport& report);

}  // namespace reprise
