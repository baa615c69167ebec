#pragma once

// Of several explanations, the one after which a node follows most steadily. Pure.

#include <optional>
#include <span>
#include <utility>

#include "analysis/verdict.h"

namespace reprise {

/// The one whose gaps have the smallest standard deviation; of equal ones, the first.
template <class T>
class Steadiest {
 public:
  void offer(T candidate, std::span<const double> gaps_us) {
    auto const spread = standard_deviation(gaps_us);
    if (best_ && spread >= spread_) return;
    best_ = std::move(candidate);
    spread_ = spread;
  }

  /// Nothing before the first offer.
  const std::optional<T>& best() const { return best_; }
  /// Its standard deviation; 0 before the first offer.
  double spread() const { return spread_; }

 private:
  std::optional<T> best_;
  double spread_ = 0;
};

}  // namespace reprise
