// For tests of whole chains: reads beacons from stdin, writes each as a line of a call tree
// (analysis/calls/CALLS.md), then `{"lines":3,"views":2,"bad_lines":1}`.

#include <cstdio>
#include <iostream>

#include "analysis/beacons/beacon_lines.h"
#include "analysis/calls/call_lines.h"

using namespace reprise;

int main() {
  BeaconLines lines(
      [](const BeaconView& view, std::uint64_t) { std::cout << call_line(tree_of(view)); });
  while (std::cin) {
    auto const space = lines.space();
    std::cin.read(space.data(), static_cast<std::streamsize>(space.size()));
    lines.written(static_cast<std::size_t>(std::cin.gcount()));
  }
  lines.finish();
  auto const& counts = lines.counts();
  std::cout << "{\"lines\":" << counts.lines << ",\"views\":" << counts.views
            << ",\"bad_lines\":" << counts.bad_lines << "}\n";
}
