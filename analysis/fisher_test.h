#pragma once

#include <cstddef>

namespace reprise {

/// Of `total`, so many failed.
struct Failures {
  std::size_t failed = 0;
  std::size_t total = 0;
};

/// The two-sided p-value of Fisher's exact test that both fail as often: the probability, given all
/// failures, of counts that are no more probable than these. 1 if nothing, or all, failed.
double fisher_p(Failures a, Failures b);

}  // namespace reprise
