#pragma once

// Names of time zones, and the machine's own. Reads the system's time zone database.

#include <filesystem>
#include <string>

namespace reprise {

/// Why `name` is not the name of a time zone, as browsers know them; empty if it is one, and if the
/// system has no database of time zones.
std::string time_zone_problem(const std::string& name);

/// The machine's time zone by its IANA name: that of the environment variable TZ, of the link
/// `etc`/localtime, or of the text in `etc`/timezone; UTC if `etc`/localtime is missing. Empty if
/// they do not name one: prints a notice.
std::string local_time_zone(const std::filesystem::path& etc = "/etc");

}  // namespace reprise
