#pragma once

// Facts about an archive as text for users.

#include <chrono>
#include <cstdint>
#include <string>

#include "archive/exchange.h"

namespace reprise {

/// "12.345 ms", or "-" if unknown.
std::string milliseconds(SessionTime time);

/// "A", "AAAA", "HTTPS", or "TYPE16" for a type without a name here.
std::string dns_type_name(std::uint16_t type);

}  // namespace reprise
