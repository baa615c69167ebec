#include "tools/load/load_matrix.h"

#include <random>
#include <utility>

namespace reprise {

std::vector<LoadCell> load_cells(const LoadSides& sides) {
  std::vector<LoadCell> cells;
  for (const std::string& url : sides.urls) {
    for (const std::string& browser : sides.browsers) {
      for (const std::string& protocol : sides.protocols) {
        for (const std::string& link : sides.links) {
          for (const std::string& cache : sides.caches) {
            cells.push_back(
                {.url = url,
                 .configuration = {
                     .browser = browser, .protocol = protocol, .link = link, .cache = cache}});
          }
        }
      }
    }
  }
  return cells;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> all;
  while (true) {
    auto const comma = text.find(',');
    auto const piece = text.substr(0, comma);
    if (!all.empty() && piece.contains('=')) {
      all.back().append(",").append(piece);
    } else {
      all.emplace_back(piece);
    }
    if (comma == std::string_view::npos) return all;
    text.remove_prefix(comma + 1);
  }
}

std::vector<PlannedLoad> plan_loads(std::size_t cells, unsigned warm_ups, unsigned runs,
                                    std::uint64_t seed) {
  // Not std::shuffle, whose order differs between libraries.
  std::mt19937_64 random(seed);
  bool const is_a_series = warm_ups + runs > 1;
  std::vector<PlannedLoad> plan;
  plan.reserve(cells * (warm_ups + runs));
  for (unsigned run = 1; run <= warm_ups + runs; ++run) {
    auto const first = plan.size();
    for (std::size_t cell = 0; cell < cells; ++cell) {
      plan.push_back({.cell = cell, .run = run, .warm_up = run <= warm_ups});
    }
    for (std::size_t left = is_a_series ? cells : 1; left > 1; --left) {
      std::swap(plan[first + left - 1], plan[first + random() % left]);
    }
  }
  return plan;
}

}  // namespace reprise
