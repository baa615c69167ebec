#include "analysis/gate.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <utility>

namespace reprise {
namespace {

bool may_pass(const Comparison& comparison) {
  return std::ranges::all_of(comparison.refusals, &Refusal::may_pass);
}

/// The same text for sentences that differ in their figures alone: "other programs used N % of the
/// processors".
std::string without_figures(const std::string& text) {
  std::string out;
  for (char const c : text) {
    bool const after_figure = out.ends_with('N');
    if (c >= '0' && c <= '9') {
      if (!after_figure) out += 'N';
    } else if (c != '.' || !after_figure) {
      out += c;
    }
  }
  return out;
}

/// The first one in a sentence; 0 without any.
double first_figure(const std::string& text) {
  auto const at = text.find_first_of("0123456789");
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at, nullptr);
}

class Gate {
 public:
  Gate(const GateOptions& options, const GateCalls& calls)
      : options_(options), calls_(calls), chance_(options.seed) {}

  GateResult run() {
    for (std::size_t run = 0; run <= options_.most_runs; ++run) {
      if (auto const ended = load_undisturbed(run)) {
        result_.end = *ended;
        if (*ended == GateEnd::kOutOfTime && run > 0) look_at_end(run - 1);
        return result_;
      }
      if (run == looks_.at()[look_]) result_.end = look(run);
      if (result_.end != GateEnd::kOutOfRuns) return result_;
    }
    if (!result_.look.comparison.refusals.empty()) result_.end = GateEnd::kRefused;
    return result_;
  }

 private:
  /// Loads both sides until nothing disturbs them. Returns why the gate ends, if it does.
  std::optional<GateEnd> load_undisturbed(std::size_t run) {
    for (;;) {
      if (!calls_.time_left()) return GateEnd::kOutOfTime;
      bool const b_first = (chance_() >> 63) != 0;
      if (!calls_.load(b_first, run) || !calls_.load(!b_first, run)) return GateEnd::kInterrupted;
      if (run == 0) return std::nullopt;
      auto const why = calls_.why_disturbed(run);
      if (why.empty()) return std::nullopt;
      count_skipped(why);
      repeats_.add();
      if (repeats_.too_many(run - 1)) return GateEnd::kDisturbed;
    }
  }

  void count_skipped(const std::string& why) {
    auto const kind = without_figures(why);
    ++result_.skipped[kind];
    auto& largest = result_.largest[kind];
    if (largest.empty() || first_figure(why) > first_figure(largest)) largest = why;
  }

  /// kOutOfRuns: more are needed.
  GateEnd look(std::size_t run) {
    auto compare_options = options_.compare;
    compare_options.level_of = [&](double alpha) { return looks_.level(look_, alpha); };
    compare_options.all_failed_differ = false;
    result_.look = {
        .number = look_ + 1,
        .of = looks_.at().size(),
        .runs = run,
        .comparison = compare(calls_.measured(false), calls_.measured(true), compare_options)};
    calls_.on_look(result_.look);
    auto const& comparison = result_.look.comparison;
    if (!comparison.refusals.empty() && !may_pass(comparison)) return GateEnd::kRefused;
    if (comparison.refusals.empty()) {
      if (is_answer(comparison)) return GateEnd::kDecided;
      if (!can_be_decided(comparison)) return GateEnd::kNoValue;
    }
    ++look_;
    return GateEnd::kOutOfRuns;
  }

  /// After so many runs, of which some were made since the last look. The clock saw what A and B
  /// of a run took together, not which of them was slower.
  void look_at_end(std::size_t runs) {
    // Fewer loads cannot decide anything, but chance can look like pages that are not comparable.
    if (runs <= result_.look.runs || runs < least_loads(options_.compare.alpha)) return;
    looks_.end_with(look_, runs);
    if (auto const end = look(runs); end != GateEnd::kOutOfRuns) result_.end = end;
  }

  bool is_answer(const Comparison& comparison) const {
    if (comparison.verdict != Verdict::kDifferent) return comparison.verdict == Verdict::kSame;
    return options_.question == GateQuestion::kDifferent || is_worse(comparison) ||
           !has_undecided(comparison);
  }

  const GateOptions& options_;
  const GateCalls& calls_;
  Looks looks_{options_.look_every, options_.most_runs};
  std::mt19937_64 chance_;
  std::size_t look_ = 0;
  DisturbedRepeats repeats_;
  GateResult result_;
};

}  // namespace

GateResult run_gate(const GateOptions& options, const GateCalls& calls) {
  return Gate(options, calls).run();
}

}  // namespace reprise
