#include "analysis/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "analysis/normal.h"

namespace reprise {
namespace {

/// Beyond this many pairs the normal approximation is used: the exact one takes their square.
constexpr std::size_t kExactPairsMax = 4000;

bool has_both(const Block& block) {
  return !block.a.empty() && !block.b.empty();
}

std::vector<double> u_of(const Block& block) {
  return u_distribution(block.a.size(), block.b.size());
}

std::vector<double> doubled_u_of(const Block& block) {
  return doubled_u_distribution(block.a, block.b);
}

/// P(0), P(1), ... of the sum over all blocks, from `of` each; nothing if that takes too long.
std::optional<std::vector<double>> distribution_of(std::span<const Block> blocks,
                                                   std::vector<double> (*of)(const Block&)) {
  if (pairs_in(blocks) > kExactPairsMax) return std::nullopt;
  std::vector<double> sum{1};
  for (const Block& block : blocks) {
    if (!has_both(block)) continue;
    if (block.a.size() + block.b.size() > kExactTotalMax) return std::nullopt;
    auto const own = of(block);
    std::vector<double> next(sum.size() + own.size() - 1);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      for (std::size_t j = 0; j < own.size(); ++j) next[i + j] += sum[i] * own[j];
    }
    sum = std::move(next);
  }
  return sum;
}

const Block* only_block(std::span<const Block> blocks) {
  auto const found = std::ranges::find_if(blocks, has_both);
  if (found == blocks.end()) return nullptr;
  bool const alone = std::none_of(found + 1, blocks.end(), has_both);
  return alone ? &*found : nullptr;
}

/// binomial(2n, n): the ways to divide twice as many loads into two sides.
double orders_of(std::size_t loads) {
  double orders = 1;
  // lgamma() is not exact, and a p of 0.1 must not miss a level of 0.1. This is, up to 2^53.
  for (std::size_t i = 1; i <= loads; ++i) {
    auto const n = static_cast<double>(i);
    orders = orders * (4 * n - 2) / n;
  }
  return orders;
}

}  // namespace

std::size_t pairs_in(std::span<const Block> blocks) {
  std::size_t pairs = 0;
  for (const Block& block : blocks) pairs += block.a.size() * block.b.size();
  return pairs;
}

std::size_t loads_of_largest(std::span<const Block> blocks) {
  std::size_t most = 0;
  for (const Block& block : blocks) {
    if (has_both(block)) most = std::max(most, (block.a.size() + block.b.size() + 1) / 2);
  }
  return most;
}

double smallest_p(std::size_t loads, std::size_t block_loads) {
  if (block_loads == 0) return std::min(1.0, 2 / orders_of(loads));
  auto const blocks = static_cast<double>(loads / block_loads);
  auto const orders = std::pow(orders_of(block_loads), blocks) * orders_of(loads % block_loads);
  return std::min(1.0, 2 / orders);
}

RankTest blocked_rank_test(std::span<const Block> blocks) {
  if (auto const* const block = only_block(blocks)) return rank_test(block->a, block->b);
  RankTest test;
  auto const pairs = static_cast<double>(pairs_in(blocks));
  if (pairs == 0) return test;
  double variance = 0;
  for (const Block& block : blocks) {
    if (!has_both(block)) continue;
    auto const own = rank_test(block.a, block.b);
    test.u += own.u;
    test.tie_term += own.tie_term;
    variance += u_variance(block.a.size(), block.b.size(), own.tie_term);
  }
  test.cliffs_delta = 2 * test.u / pairs - 1;
  if (variance <= 0) return test;  // all values of each machine are equal
  bool const has_ties = test.tie_term > 0;
  auto const probabilities = distribution_of(blocks, has_ties ? doubled_u_of : u_of);
  test.exact = probabilities.has_value();
  if (probabilities) {
    auto const observed = std::llround(has_ties ? 2 * test.u : test.u);
    auto const at = probabilities->begin() + static_cast<std::ptrdiff_t>(observed);
    double const lower = std::accumulate(probabilities->begin(), at + 1, 0.0);
    double const upper = std::accumulate(at, probabilities->end(), 0.0);
    test.p = std::min(1.0, 2 * std::min(lower, upper));
  } else {
    double const distance = std::max(std::abs(test.u - pairs / 2) - 0.5, 0.0);
    test.p = std::min(1.0, 2 * normal_upper(distance / std::sqrt(variance)));
  }
  return test;
}

Shift blocked_shift(std::span<const Block> blocks, double alpha) {
  if (!(alpha > 0 && alpha < 1)) std::abort();
  std::vector<PairDifferences> differences;
  double variance = 0;
  for (const Block& block : blocks) {
    if (!has_both(block)) continue;
    differences.emplace_back(block.a, block.b);
    variance += u_variance(block.a.size(), block.b.size());
  }
  auto const probabilities = distribution_of(blocks, u_of);
  auto const outside = probabilities ? critical_count(*probabilities, alpha / 2)
                                     : critical_count(pairs_in(blocks), variance, alpha / 2);
  return shift_of(differences, outside);
}

}  // namespace reprise
