#pragma once

// A link and its counters, as text and as JSON, with every number written out: the same name means
// different numbers in different tools.

#include <boost/json/object.hpp>
#include <string>

#include "shaper/link.h"
#include "shaper/profile.h"

namespace reprise {

/// One line that parse_link reads as the same link: `9mbit/9mbit/170ms,queue=128p`. Only the name
/// of a known profile is lost.
std::string to_text(const LinkProfile& profile);

/// All settings, with units in the names; null for unlimited or unused.
boost::json::object to_json(const LinkProfile& profile);

/// The counters of one direction, in packets and bytes.
boost::json::object to_json(const LinkCounters& counters);

}  // namespace reprise
