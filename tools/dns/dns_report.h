#pragma once

#include <boost/json.hpp>
#include <string>

#include "dns/responder.h"

namespace reprise {

/// The stub's queries, for reports: by type, and the names that do not exist.
boost::json::object dns_report_json(const dns::Responder::Counts& counts);

/// The same on one line: "12 queries (A 6, AAAA 6), 2 for names that do not exist".
std::string dns_report_text(const dns::Responder::Counts& counts);

}  // namespace reprise
