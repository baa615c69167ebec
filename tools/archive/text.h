#pragma once

// Facts of an archive as text for people.

#include <chrono>
#include <cstdint>
#include <string>

#include "archive/exchange.h"

namespace reprise {

/// "12.345 ms", or "-" when not known.
std::string milliseconds(SessionTime time);

/// "A", "AAAA", "HTTPS", or "TYPE16" of what has no name here.
std::string dns_type_name(std::uint16_t type);

}  // namespace reprise
