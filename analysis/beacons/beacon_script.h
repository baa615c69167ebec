#pragma once

// The script that pages of real users carry to send beacons: script/beacon.js, minified.

#include <string_view>

namespace reprise {

/// One line of ASCII and a newline, for a file or a <script> element. Less than 2 KB after gzip.
std::string_view beacon_script();

}  // namespace reprise
