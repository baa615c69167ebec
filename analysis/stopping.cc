#include "analysis/stopping.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "analysis/normal.h"

namespace reprise {
namespace {

double spent(double share, double alpha) {
  return alpha * std::log1p((std::numbers::e - 1) * share);
}

double normal_density(double z) {
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

/// The density of the standardised difference at one look, over the cases that continued so far, on
/// a grid over the bounds of that look. The looks' statistics are those of a Brownian motion
/// (Armitage, McPherson and Rowe, 1969).
class Surviving {
 public:
  Surviving(double information, double bound) : information_(information), bound_(bound) {}

  static Surviving first(double information, double bound) {
    Surviving out(information, bound);
    for (std::size_t i = 0; i <= kSteps; ++i) out.density_[i] = normal_density(out.grid(i));
    return out;
  }

  /// The probability of exceeding +-`bound` at the look at `information`.
  double exit_chance(double information, double bound) const {
    return integrate(information, [&](double mean, double deviation) {
      return normal_upper((bound - mean) / deviation) + normal_upper((bound + mean) / deviation);
    });
  }

  Surviving next(double information, double bound) const {
    Surviving out(information, bound);
    for (std::size_t i = 0; i <= kSteps; ++i) {
      double const z = out.grid(i);
      out.density_[i] = integrate(information, [&](double mean, double deviation) {
        return normal_density((z - mean) / deviation) / deviation;
      });
    }
    return out;
  }

 private:
  static constexpr std::size_t kSteps = 256;

  double grid(std::size_t i) const { return bound_ * (2 * static_cast<double>(i) / kSteps - 1); }

  /// Simpson's rule over the previous look's grid, given mean and deviation of the next from there.
  template <class Of>
  double integrate(double information, const Of& of) const {
    double const scale = std::sqrt(information_ / information);
    double const deviation = std::sqrt(1 - information_ / information);
    double sum = 0;
    for (std::size_t i = 0; i <= kSteps; ++i) {
      double const weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
      sum += weight * density_[i] * of(scale * grid(i), deviation);
    }
    return sum * (2 * bound_ / kSteps) / 3;
  }

  double information_;
  double bound_;
  std::vector<double> density_ = std::vector<double>(kSteps + 1);
};

double bound_of(const Surviving& before, double information, double chance) {
  double low = 0;
  double high = 39;
  for (int halving = 0; halving < 50; ++halving) {
    double const middle = (low + high) / 2;
    (before.exit_chance(information, middle) > chance ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::vector<double> look_levels(std::span<const double> information, double alpha,
                                bool spends_all) {
  if (information.empty() || information.size() > kLooksMax || !(alpha > 0 && alpha < 1) ||
      !(information.front() > 0) || information.back() > 1) {
    std::abort();
  }
  auto const spent_by = [&](std::size_t look) {
    bool const spends_rest = spends_all && look + 1 == information.size();
    return spends_rest ? alpha : spent(information[look], alpha);
  };
  std::vector<double> levels{spent_by(0)};
  auto surviving = Surviving::first(information.front(), normal_upper_quantile(levels.front() / 2));
  for (std::size_t look = 1; look < information.size(); ++look) {
    double const share = information[look];
    if (!(share > information[look - 1])) std::abort();
    double const chance = spent_by(look) - spent_by(look - 1);
    double const bound = bound_of(surviving, share, chance);
    levels.push_back(2 * normal_upper(bound));
    if (look + 1 < information.size()) surviving = surviving.next(share, bound);
  }
  return levels;
}

double last_level(double first_level, double share, double alpha) {
  if (!(alpha > 0 && alpha < 1) || !(first_level > 0 && first_level < alpha) || !(share > 0)) {
    std::abort();
  }
  if (share >= 1) return alpha;
  // The grid is too coarse for looks that are closer; a smaller share has a smaller level.
  constexpr double kShareMax = .99;
  auto const before =
      Surviving::first(std::min(share, kShareMax), normal_upper_quantile(first_level / 2));
  return 2 * normal_upper(bound_of(before, 1, alpha - first_level));
}

}  // namespace reprise
