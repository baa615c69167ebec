#include "analysis/gate.h"

#include <algorithm>
#include <random>
#include <utility>

namespace reprise {
namespace {

/// A busy moment of the machine passes.
bool may_pass(const Comparison& comparison) {
  return std::ranges::all_of(comparison.refusals, [](const Refusal& each) {
    return each.difference == Mismatch::kCalibration;
  });
}

}  // namespace

GateResult run_gate(const GateOptions& options, const GateCalls& calls) {
  Looks looks(options.look_every, options.most_runs);
  auto compare_options = options.compare;
  std::size_t look = 0;
  compare_options.level_of = [&](double alpha) { return looks.level(look, alpha); };
  std::mt19937_64 chance(options.seed);
  GateResult result;
  for (std::size_t run = 0; run <= options.most_runs; ++run) {
    if (!calls.time_left()) {
      result.end = GateEnd::kOutOfTime;
      return result;
    }
    bool const b_first = (chance() >> 63) != 0;
    if (!calls.load(b_first, run) || !calls.load(!b_first, run)) {
      result.end = GateEnd::kInterrupted;
      return result;
    }
    if (run != looks.at()[look]) continue;
    result.look = {
        .number = look + 1,
        .of = looks.at().size(),
        .runs = run,
        .comparison = compare(calls.measured(false), calls.measured(true), compare_options)};
    calls.tell(result.look);
    auto const& comparison = result.look.comparison;
    if (!comparison.refusals.empty() && !may_pass(comparison)) {
      result.end = GateEnd::kRefused;
      return result;
    }
    if (comparison.refusals.empty() && comparison.verdict != Verdict::kUndecided) {
      result.end = GateEnd::kDecided;
      return result;
    }
    ++look;
  }
  result.end = result.look.comparison.refusals.empty() ? GateEnd::kOutOfRuns : GateEnd::kRefused;
  return result;
}

}  // namespace reprise
