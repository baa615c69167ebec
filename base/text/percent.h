#pragma once

// Percent-encoding (RFC 3986 section 2.1), the way back.

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise {

/// One character of a percent-encoded text, and its length in bytes there.
struct PercentUnit {
  char plain = 0;
  std::size_t bytes = 1;
};

/// `text` is not empty. A `%` without two hex digits behind it stands for itself.
PercentUnit first_percent_unit(std::string_view text);

std::string percent_decoded(std::string_view text);

}  // namespace reprise
