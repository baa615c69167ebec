#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "proxy/failed_handshakes.h"

namespace reprise {

/// Failed handshakes, for `--report` and GET /status.
boost::json::object handshake_report_json(const FailedHandshakes::Counts& counts);
/// The same for users, one line with its newline; empty if there were none.
std::string handshake_report_text(const FailedHandshakes::Counts& counts);

}  // namespace reprise
