#pragma once

#include <cstdint>

namespace reprise {

/// A link draws numbers for several purposes, each from a separate stream.
enum class Purpose : std::uint8_t { loss, loss_state, jitter, active_queue, count };

/// Random numbers that are a function of (seed, stream, index): the same packet index draws the
/// same number, in any order and after any other draws. SplitMix64 (Steele, Lea and Flood 2014),
/// which passes BigCrush, with random access.
class RandomStream {
 public:
  /// Streams that differ in seed, link or purpose are independent of each other.
  constexpr RandomStream(std::uint64_t seed, std::uint64_t link, Purpose purpose)
      : base_(mix(mix(seed + kStep) +
                  (link * kPurposes + static_cast<std::uint64_t>(purpose) + 1) * kStep)) {}

  /// Uniform over all 64-bit values.
  constexpr std::uint64_t bits(std::uint64_t index) const {
    return mix(base_ + (index + 1) * kStep);
  }

  /// Uniform in [0, 1), in steps of 2^-53.
  constexpr double fraction(std::uint64_t index) const {
    return static_cast<double>(bits(index) >> 11) * 0x1p-53;
  }

 private:
  static constexpr std::uint64_t kPurposes = static_cast<std::uint64_t>(Purpose::count);
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  std::uint64_t base_;
};

}  // namespace reprise
