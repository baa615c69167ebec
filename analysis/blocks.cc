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

/// P(U = 0), P(U = 1), ... of the sum, without ties; nothing if that takes too long.
std::optional<std::vector<double>> distribution_of(std::span<const Block> blocks) {
  if (pairs_in(blocks) > kExactPairsMax) return std::nullopt;
  std::vector<double> sum{1};
  for (const Block& block : blocks) {
    if (!has_both(block)) continue;
    if (block.a.size() + block.b.size() > kExactTotalMax) return std::nullopt;
    auto const own = u_distribution(block.a.size(), block.b.size());
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

}  // namespace

std::size_t pairs_in(std::span<const Block> blocks) {
  std::size_t pairs = 0;
  for (const Block& block : blocks) pairs += block.a.size() * block.b.size();
  return pairs;
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
  auto const probabilities = test.tie_term == 0 ? distribution_of(blocks) : std::nullopt;
  test.exact = probabilities.has_value();
  if (probabilities) {
    auto const at = probabilities->begin() + static_cast<std::ptrdiff_t>(std::llround(test.u));
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
  auto const probabilities = distribution_of(blocks);
  auto const outside = probabilities ? critical_count(*probabilities, alpha / 2)
                                     : critical_count(pairs_in(blocks), variance, alpha / 2);
  return shift_of(differences, outside);
}

}  // namespace reprise
