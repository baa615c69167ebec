#include "analysis/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>

#include "analysis/normal.h"

namespace reprise {
namespace {

/// Beyond this many pairs the normal approximation is used: the exact one takes their square.
constexpr std::size_t kExactPairsMax = 4000;

bool has_both(const Block& block) {
  return !block.a.empty() && !block.b.empty();
}

/// Of one machine: the sum of t^3 - t over groups of t equal values.
double tie_term_of(const Block& block) {
  std::vector<double> pooled(block.a);
  pooled.insert(pooled.end(), block.b.begin(), block.b.end());
  std::ranges::sort(pooled);
  double term = 0;
  for (std::size_t begin = 0; begin < pooled.size();) {
    std::size_t end = begin;
    while (end < pooled.size() && pooled[end] == pooled[begin]) ++end;
    auto const tied = static_cast<double>(end - begin);
    term += tied * tied * tied - tied;
    begin = end;
  }
  return term;
}

double variance_of(const Block& block, double tie_term) {
  auto const m = static_cast<double>(block.a.size());
  auto const n = static_cast<double>(block.b.size());
  double const total = m + n;
  return m * n / 12 * (total + 1 - tie_term / (total * (total - 1)));
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

/// The largest c with P(U < c) <= `tail`, without ties.
std::uint64_t critical_count(std::span<const Block> blocks, double tail) {
  if (auto const probabilities = distribution_of(blocks)) {
    std::uint64_t count = 0;
    for (double below = 0; count < probabilities->size(); ++count) {
      below += (*probabilities)[count];
      if (below > tail) break;
    }
    return count;
  }
  double variance = 0;
  for (const Block& block : blocks) variance += has_both(block) ? variance_of(block, 0) : 0;
  double const count = static_cast<double>(pairs_in(blocks)) / 2 + 0.5 -
                       normal_upper_quantile(tail) * std::sqrt(variance);
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
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
  double variance = 0, ties = 0;
  for (const Block& block : blocks) {
    if (!has_both(block)) continue;
    test.u += rank_test(block.a, block.b).u;
    double const tie_term = tie_term_of(block);
    ties += tie_term;
    variance += variance_of(block, tie_term);
  }
  test.cliffs_delta = 2 * test.u / pairs - 1;
  if (variance <= 0) return test;  // all values of each machine are equal
  auto const probabilities = ties == 0 ? distribution_of(blocks) : std::nullopt;
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
  if (auto const* const block = only_block(blocks)) return shift_between(block->a, block->b, alpha);
  std::vector<double> differences;
  differences.reserve(pairs_in(blocks));
  for (const Block& block : blocks) {
    for (double const a : block.a) {
      for (double const b : block.b) differences.push_back(b - a);
    }
  }
  if (differences.empty() || !(alpha > 0 && alpha < 1)) std::abort();
  std::ranges::sort(differences);
  auto const count = differences.size();
  Shift shift{.estimate = std::midpoint(differences[(count - 1) / 2], differences[count / 2]),
              .low = -std::numeric_limits<double>::infinity(),
              .high = std::numeric_limits<double>::infinity()};
  auto const outside = critical_count(blocks, alpha / 2);
  if (outside > 0) {
    shift.low = differences[outside - 1];
    shift.high = differences[count - outside];
  }
  return shift;
}

}  // namespace reprise
