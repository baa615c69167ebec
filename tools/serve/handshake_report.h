#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "proxy/failed_handshakes.h"

namespace reprise {

/// What `--report` and GET /status say of handshakes that clients ended.
boost::json::object handshake_report_json(const FailedHandshakes::Counts& counts);
/// The same for people, a line with its newline; empty when there was none.
std::string handshake_report_text(const FailedHandshakes::Counts& counts);

}  // namespace reprise
