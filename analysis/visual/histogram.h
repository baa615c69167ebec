#pragma once

// The colours of a picture.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise {

/// How many pixels have each value, in red, green and blue. White ones (all three 250 or more) are
/// not counted: what compression makes of a blank page is blank.
struct Histogram {
  std::array<std::array<std::uint32_t, 256>, 3> channels{};

  void add(std::uint8_t red, std::uint8_t green, std::uint8_t blue);
  bool operator==(const Histogram&) const = default;
};

inline constexpr unsigned kPictureSideMax = 4096;

/// Of an untrusted JPEG of at most kPictureSideMax pixels a side; nothing if it cannot be decoded.
std::optional<Histogram> histogram_of_jpeg(std::string_view jpeg);

}  // namespace reprise
