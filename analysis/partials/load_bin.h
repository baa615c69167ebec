#pragma once

// Bins of load times, fixed forever: 32 of equal width in each doubling of 0.1 ms, so that each is
// at most 3.1 % wide. Integers only. Pure.

#include <bit>
#include <cstdint>

namespace reprise {

inline constexpr std::int64_t kLoadBinUnitUs = 100;
inline constexpr std::uint32_t kLoadBinsInOctave = 32;
inline constexpr std::uint32_t kLoadBins = 1'000;  ///< the longest window, a day, is in 947

/// 0 is also of everything below 0.1 ms. `window_us` is at most a day.
constexpr std::uint32_t load_bin(std::int64_t window_us) {
  if (window_us < kLoadBinUnitUs) return 0;
  auto const units = static_cast<std::uint64_t>(window_us / kLoadBinUnitUs);
  auto const octave = static_cast<std::uint32_t>(std::bit_width(units) - 1);
  auto const part = static_cast<std::uint64_t>(window_us) * kLoadBinsInOctave /
                    (static_cast<std::uint64_t>(kLoadBinUnitUs) << octave);
  return octave * kLoadBinsInOctave + static_cast<std::uint32_t>(part) - kLoadBinsInOctave;
}

}  // namespace reprise
