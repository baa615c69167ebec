#include "analysis/prediction/distribution_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "analysis/verdict.h"

namespace reprise {

DistributionDistance distance_of(std::span<const double> a, std::span<const double> b) {
  std::vector<double> first(a.begin(), a.end());
  std::vector<double> second(b.begin(), b.end());
  std::ranges::sort(first);
  std::ranges::sort(second);
  std::vector<double> points;
  std::ranges::merge(first, second, std::back_inserter(points));
  std::vector<double> distances;
  std::size_t i = 0;
  std::size_t k = 0;
  for (double const point : points) {
    while (i < first.size() && first[i] <= point) ++i;
    while (k < second.size() && second[k] <= point) ++k;
    distances.push_back(std::abs(static_cast<double>(i) / static_cast<double>(first.size()) -
                                 static_cast<double>(k) / static_cast<double>(second.size())));
  }
  auto const sum = std::accumulate(distances.begin(), distances.end(), 0.0);
  return {.largest = std::ranges::max(distances),
          .median = median(distances),
          .mean = sum / static_cast<double>(distances.size())};
}

DistributionDistance distance_floor(std::span<const double> values, std::size_t a_count,
                                    std::size_t b_count, std::size_t draws, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> a(a_count);
  std::vector<double> b(b_count);
  std::vector<double> largest;
  std::vector<double> medians;
  std::vector<double> means;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (double& each : a) each = values[random() % values.size()];
    for (double& each : b) each = values[random() % values.size()];
    auto const distance = distance_of(a, b);
    largest.push_back(distance.largest);
    medians.push_back(distance.median);
    means.push_back(distance.mean);
  }
  return {.largest = median(largest), .median = median(medians), .mean = median(means)};
}

}  // namespace reprise
