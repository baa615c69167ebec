#pragma once

#include <cstdint>
#include <string>

namespace reprise {

/// "12.3 kB", "4.56 MB".
std::string size_text(std::int64_t bytes);
/// "78.9 ms", or "none" for what never came, which is negative.
std::string ms_text(double ms);

}  // namespace reprise
