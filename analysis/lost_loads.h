#pragma once

// The loads of a measurement that do not count. Pure.

#include <cstddef>
#include <string>

#include "pageload/results/load_result.h"

namespace reprise {

/// Of several results together. Loads that warm up are no part of it.
struct LostLoads {
  struct Why {
    std::size_t loads = 0;
    std::string first;  ///< reason
  };
  std::size_t made = 0;
  Why disturbed;  ///< or their link missed its settings
  Why failed;

  void add(const LoadResult& result);
  std::size_t lost() const { return disturbed.loads + failed.loads; }
};

/// "3 of 40 loads do not count: 2 were disturbed (the first one: ...), 1 failed (...)"; empty if
/// none is lost.
std::string lost_text(const LostLoads& loads);

}  // namespace reprise
