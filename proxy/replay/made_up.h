#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/http/headers.h"
#include "proxy/replay/response/special_answers.h"

namespace reprise {

/// An answer that was not recorded, and why it may be given.
struct MadeUp {
  Special special = Special::kPreflight;
  std::uint16_t status = 0;
  Headers headers;        ///< without a length, which the sender adds
  std::string_view body;  ///< of static storage
  std::string why;
};

}  // namespace reprise
