#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/rounds.h"  // which tests that draw need too

namespace reprise {

/// The seed of a test that draws: always the same, unless REPRISE_TEST_SEED is a number or "fresh".
/// A failure during its life names it.
class TestSeed {
 public:
  TestSeed() = default;

  std::uint64_t value() const { return value_; }

 private:
  static std::uint64_t choose() {
    const char* const given = std::getenv("REPRISE_TEST_SEED");
    if (given == nullptr) return 1;
    return std::string_view(given) == "fresh" ? std::random_device()()
                                              : std::strtoull(given, nullptr, 10);
  }

  std::uint64_t value_ = choose();
  testing::ScopedTrace trace_{__FILE__, __LINE__, "REPRISE_TEST_SEED=" + std::to_string(value_)};
};

/// Runs `property(seed)` for `rounds` seeds from a TestSeed on, up to the first failure.
template <class Property>
void for_seeds(std::uint64_t rounds, Property property) {
  TestSeed const first;
  for (std::uint64_t i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
    testing::ScopedTrace const trace(__FILE__, __LINE__, "round " + std::to_string(i));
    property(first.value() + i);
  }
}

}  // namespace reprise
