#pragma once

// Beacons for tests: those of tests/analysis/beacons/data/, and call trees of texts.

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/beacons/beacon_reader.h"

namespace reprise {

inline std::vector<std::string> lines_of(std::string_view file) {
  std::ifstream in(std::string(BEACON_FOLDER "/") + std::string(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << file;
  return lines;
}

/// The tree of a line that must be a view.
inline CallTree read_tree(std::string_view line) {
  BeaconReader reader;
  auto const view = reader.read(line);
  EXPECT_TRUE(view) << view.error().why;
  return view ? tree_of(**view) : CallTree{};
}

/// Why a line is not a view.
inline std::string beacon_fault(std::string_view line) {
  BeaconReader reader;
  auto const view = reader.read(line);
  return view ? "none" : view.error().why;
}

}  // namespace reprise
