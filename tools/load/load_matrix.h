#pragma once

// Which loads a measurement is made of, and in which order. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pageload/results/load_result.h"

namespace reprise {

/// What is loaded again and again.
struct LoadCell {
  std::string url;
  LoadConfiguration configuration;
};

/// The values of each side of the matrix, as the command line has them.
struct LoadSides {
  std::vector<std::string> urls;
  std::vector<std::string> browsers;
  std::vector<std::string> protocols;
  std::vector<std::string> links;
  std::vector<std::string> caches;
};

/// Every combination, the last side the fastest.
std::vector<LoadCell> load_cells(const LoadSides& sides);

/// The list A,B of one argument. A link may have commas of its own: what has a = belongs to the
/// link before (wpt:4g,loss=1%).
std::vector<std::string> split_list(std::string_view text);

struct PlannedLoad {
  std::size_t cell = 0;
  unsigned run = 1;  ///< from 1; those that warm up are the first ones
  bool warm_up = false;
};

/// `warm_ups` and then `runs` loads of each of `cells`. Each run loads every cell once, in an order
/// of its own, so that what changes on the machine meanwhile touches all alike and a measurement
/// that is interrupted has as many of each. The same seed gives the same order everywhere. One load
/// of each is no measurement, and keeps the order of the cells.
std::vector<PlannedLoad> plan_loads(std::size_t cells, unsigned warm_ups, unsigned runs,
                                    std::uint64_t seed);

}  // namespace reprise
