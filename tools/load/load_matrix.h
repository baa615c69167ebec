#pragma once

// The loads of a measurement, and their order. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pageload/results/load_result.h"

namespace reprise {

/// One combination of conditions, loaded repeatedly.
struct LoadCell {
  std::string url;
  LoadConfiguration configuration;
};

/// The values of each dimension of the matrix, as on the command line.
struct LoadSides {
  std::vector<std::string> urls;
  std::vector<std::string> browsers;
  std::vector<std::string> protocols;
  std::vector<std::string> links;
  std::vector<std::string> caches;
};

/// Every combination; the last dimension changes fastest.
std::vector<LoadCell> load_cells(const LoadSides& sides);

/// Splits the list A,B of one argument. A link can contain commas: a part with = belongs to the
/// link before it (wpt:4g,loss=1%).
std::vector<std::string> split_list(std::string_view text);

struct PlannedLoad {
  std::size_t cell = 0;
  unsigned run = 1;  ///< from 1; the first ones warm up
  bool warm_up = false;
};

/// `warm_ups` and then `runs` loads of each of `cells`. Each run loads every cell once, in its own
/// random order, so that changes of the machine affect all alike and an interrupted measurement has
/// as many loads of each. The same seed gives the same order everywhere. With only one load of
/// each, the order of the cells is kept.
std::vector<PlannedLoad> plan_loads(std::size_t cells, unsigned warm_ups, unsigned runs,
                                    std::uint64_t seed);

}  // namespace reprise
