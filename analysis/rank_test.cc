#include "analysis/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "analysis/normal.h"

namespace reprise {
namespace {

/// The pooled values' ranks times two, so that those of ties, which are means, are integers.
struct Ranks {
  std::vector<int> doubled;  ///< of all values, ascending
  long b_sum = 0;            ///< of those that are B's
  double tie_term = 0;       ///< sum of t^3 - t over groups of t equal values
};

Ranks rank(std::span<const double> a, std::span<const double> b) {
  struct Value {
    double value;
    bool is_b;
  };
  std::vector<Value> pooled;
  pooled.reserve(a.size() + b.size());
  for (double const value : a) pooled.push_back({value, false});
  for (double const value : b) pooled.push_back({value, true});
  std::ranges::sort(pooled, {}, &Value::value);
  Ranks ranks;
  ranks.doubled.reserve(pooled.size());
  for (std::size_t begin = 0; begin < pooled.size();) {
    std::size_t end = begin;
    while (end < pooled.size() && pooled[end].value == pooled[begin].value) ++end;
    auto const doubled = static_cast<int>(begin + 1 + end);
    for (std::size_t i = begin; i < end; ++i) {
      ranks.doubled.push_back(doubled);
      if (pooled[i].is_b) ranks.b_sum += doubled;
    }
    auto const tied = static_cast<double>(end - begin);
    ranks.tie_term += tied * tied * tied - tied;
    begin = end;
  }
  return ranks;
}

double two_sided(std::span<const double> weights, std::size_t observed) {
  double const all = std::accumulate(weights.begin(), weights.end(), 0.0);
  auto const at = weights.begin() + static_cast<std::ptrdiff_t>(observed);
  double const lower = std::accumulate(weights.begin(), at + 1, 0.0);
  double const upper = std::accumulate(at, weights.end(), 0.0);
  return std::min(1.0, 2 * std::min(lower, upper) / all);
}

/// The number of ways to choose `chosen` of the ranks, by their sum.
std::vector<double> sums_of_chosen(std::span<const int> ranks, std::size_t chosen) {
  std::size_t const most = std::accumulate(ranks.end() - static_cast<std::ptrdiff_t>(chosen),
                                           ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  std::size_t seen = 0;
  for (int const each : ranks) {
    auto const rank = static_cast<std::size_t>(each);
    ++seen;
    for (std::size_t count = std::min(seen, chosen); count > 0; --count) {
      for (std::size_t sum = most; sum >= rank; --sum) {
        ways[count][sum] += ways[count - 1][sum - rank];
      }
    }
  }
  return ways[chosen];
}

double exact_p(const Ranks& ranks, double u, std::size_t m, std::size_t n) {
  if (ranks.tie_term == 0) {
    return two_sided(u_distribution(m, n), static_cast<std::size_t>(u));
  }
  return two_sided(sums_of_chosen(ranks.doubled, n), static_cast<std::size_t>(ranks.b_sum));
}

double approximate_p(double u, double pairs, double variance) {
  double const distance = std::max(std::abs(u - pairs / 2) - 0.5, 0.0);
  return std::min(1.0, 2 * normal_upper(distance / std::sqrt(variance)));
}

}  // namespace

RankTest rank_test(std::span<const double> a, std::span<const double> b) {
  RankTest test;
  if (a.empty() || b.empty()) return test;
  auto const ranks = rank(a, b);
  auto const m = static_cast<double>(a.size());
  auto const n = static_cast<double>(b.size());
  test.u = static_cast<double>(ranks.b_sum) / 2 - n * (n + 1) / 2;
  test.cliffs_delta = 2 * test.u / (m * n) - 1;
  test.tie_term = ranks.tie_term;
  if (ranks.doubled.front() == ranks.doubled.back()) return test;  // all values are equal
  test.exact = a.size() + b.size() <= kExactTotalMax;
  test.p = test.exact
               ? exact_p(ranks, test.u, a.size(), b.size())
               : approximate_p(test.u, m * n, u_variance(a.size(), b.size(), ranks.tie_term));
  return test;
}

std::vector<double> u_distribution(std::size_t m, std::size_t n) {
  if (m + n > kExactTotalMax) std::abort();
  // The Gaussian binomial: the product over i = 1 to m of (1 - q^(n+i)) / (1 - q^i).
  std::vector<double> counts(m * n + 1);
  counts[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t u = counts.size(); u-- > n + i;) counts[u] -= counts[u - n - i];
    for (std::size_t u = i; u < counts.size(); ++u) counts[u] += counts[u - i];
  }
  double const all = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (double& count : counts) count /= all;
  return counts;
}

std::vector<double> doubled_u_distribution(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || a.size() + b.size() > kExactTotalMax) std::abort();
  auto const ranks = rank(a, b);
  auto const sums = sums_of_chosen(ranks.doubled, b.size());
  double const all = std::accumulate(sums.begin(), sums.end(), 0.0);
  std::vector<double> out(2 * a.size() * b.size() + 1);
  std::size_t const least = b.size() * (b.size() + 1);  // twice the sum of the ranks 1 to n
  for (std::size_t sum = least; sum < sums.size(); ++sum) out[sum - least] = sums[sum] / all;
  return out;
}

double u_variance(std::size_t m, std::size_t n, double tie_term) {
  auto const pairs = static_cast<double>(m) * static_cast<double>(n);
  auto const total = static_cast<double>(m + n);
  return pairs / 12 * (total + 1 - tie_term / (total * (total - 1)));
}

}  // namespace reprise
