#include "analysis/verdict.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/stopping.h"

namespace reprise {
namespace {

/// The metrics that differ by Holm's procedure: the level is shared by the remaining ones.
std::vector<bool> significant(std::span<const Finding> findings, double alpha,
                              const LevelOf& level_of) {
  std::vector<bool> found(findings.size());
  for (std::size_t left = findings.size(); left > 0;) {
    double const level = level_of(alpha / static_cast<double>(left));
    std::size_t more = 0;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (found[i] || findings[i].rank.p > level) continue;
      found[i] = true;
      ++more;
    }
    if (more == 0) break;
    left -= more;
  }
  return found;
}

void adjust(std::span<Finding> findings) {
  std::vector<std::size_t> order(findings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return findings[i].rank.p; });
  double least = 0;
  for (std::size_t step = 0; step < order.size(); ++step) {
    auto& finding = findings[order[step]];
    auto const left = static_cast<double>(order.size() - step);
    least = std::max(least, std::min(1.0, left * finding.rank.p));
    finding.holm_p = least;
  }
}

}  // namespace

double MinimumEffect::of(double median) const {
  return std::max(absolute, relative * std::abs(median));
}

std::size_t least_loads(double level, std::size_t block_loads) {
  std::size_t loads = 1;
  while (smallest_p(loads, block_loads) > level && loads < 100) ++loads;
  return loads;
}

std::string_view to_string(Verdict verdict) {
  return verdict == Verdict::kSame        ? "same"
         : verdict == Verdict::kDifferent ? "different"
                                          : "undecided";
}

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return std::midpoint(sorted[(sorted.size() - 1) / 2], sorted[sorted.size() / 2]);
}

std::vector<Finding> judge(std::span<const Samples> metrics, double alpha,
                           const LevelOf& level_of) {
  std::vector<Finding> findings;
  double const level = level_of(alpha);
  for (const Samples& each : metrics) {
    Finding finding{.of_a = each.a.size(), .of_b = each.b.size()};
    finding.median_a = median(each.a);
    finding.median_b = median(each.b);
    finding.minimum_effect = each.least.of(finding.median_a);
    finding.of_block = loads_of_largest(each.blocks);
    finding.pairs = each.blocks.empty() ? each.a.size() * each.b.size() : pairs_in(each.blocks);
    finding.rank = each.blocks.empty() ? rank_test(each.a, each.b) : blocked_rank_test(each.blocks);
    if (finding.is_compared()) {
      finding.shift = each.blocks.empty() ? shift_between(each.a, each.b, level)
                                          : blocked_shift(each.blocks, level);
    }
    findings.push_back(finding);
  }
  adjust(findings);
  auto const found = significant(findings, alpha, level_of);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    auto& finding = findings[i];
    if (!finding.is_compared()) continue;
    const Shift& shift = finding.shift;
    if (found[i] && shift.estimate != 0 && std::abs(shift.estimate) >= finding.minimum_effect) {
      finding.verdict = Verdict::kDifferent;
    } else if (shift.low >= -finding.minimum_effect && shift.high <= finding.minimum_effect) {
      finding.verdict = Verdict::kSame;
    }
  }
  return findings;
}

Verdict verdict_of(std::span<const Finding> findings) {
  bool all_same = !findings.empty();
  for (const Finding& each : findings) {
    if (each.verdict == Verdict::kDifferent) return Verdict::kDifferent;
    all_same = all_same && each.verdict == Verdict::kSame;
  }
  return all_same ? Verdict::kSame : Verdict::kUndecided;
}

double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  auto const count = static_cast<double>(values.size());
  double const mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (double const value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

Looks::Looks(std::size_t every, std::size_t most) : most_(most) {
  every = std::max(every, (most + kLooksMax - 1) / kLooksMax);
  for (std::size_t loads = every; loads < most; loads += every) at_.push_back(loads);
  at_.push_back(most);
}

void Looks::end_with(std::size_t look, std::size_t loads) {
  at_.resize(look);
  at_.push_back(loads);
  ends_early_ = true;
  levels_.clear();
}

double Looks::level(std::size_t look, double alpha) {
  auto& levels = levels_[alpha];
  if (levels.empty()) {
    std::vector<double> shares;
    for (auto const loads : at_) {
      shares.push_back(static_cast<double>(loads) / static_cast<double>(most_));
    }
    levels = look_levels(shares, alpha, ends_early_);
  }
  return levels[look];
}

}  // namespace reprise
