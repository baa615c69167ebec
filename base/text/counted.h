#pragma once

// Numbers with their nouns, for messages.

#include <cstdint>
#include <string>
#include <string_view>

namespace reprise {

/// "1 miss", "2 misses", "0 misses": `one` is the noun's singular, `many` its plural.
inline std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  auto text = std::to_string(number) + " ";
  return text += number == 1 ? one : many;
}

/// The same for nouns whose plural is `one` and an s: "1 exchange", "2 exchanges".
inline std::string counted(std::uint64_t number, std::string_view one) {
  return counted(number, one, std::string(one) + "s");
}

}  // namespace reprise
