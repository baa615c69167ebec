#include "tools/archive/text.h"

#include <array>
#include <cstdio>

namespace reprise {

std::string milliseconds(SessionTime time) {
  if (time == kNoTime) return "-";
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.3f ms", static_cast<double>(time.count()) / 1e6);
  return text.data();
}

std::string dns_type_name(std::uint16_t type) {
  switch (type) {
    case 1:
      return "A";
    case 28:
      return "AAAA";
    case 65:
      return "HTTPS";
    default:
      return "TYPE" + std::to_string(type);
  }
}

}  // namespace reprise
