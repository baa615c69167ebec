#pragma once

// A link, and what it did, in words and in JSON, with every number written out: a name alone means
// different numbers in different tools.

#include <boost/json/object.hpp>
#include <string>

#include "shaper/link.h"
#include "shaper/profile.h"

namespace reprise {

/// One line that parse_link reads as the same link: `9mbit/9mbit/170ms,queue=128p`. Only a known
/// profile's name is lost.
std::string to_text(const LinkProfile& profile);

/// Everything, with units in the names; what is unlimited or not used is null.
boost::json::object to_json(const LinkProfile& profile);

/// What one direction did, in packets and bytes.
boost::json::object to_json(const LinkCounters& counters);

}  // namespace reprise
