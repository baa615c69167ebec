#pragma once

#include <chrono>
#include <string>

namespace reprise {

/// "2026-11-21T02:03:04Z".
std::string utc_time(std::chrono::system_clock::time_point time);

}  // namespace reprise
