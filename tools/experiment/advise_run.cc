#include "tools/experiment/advise_run.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

#include "analysis/allotment/allotment.h"
#include "analysis/allotment/rounds.h"
#include "analysis/gate.h"
#include "base/text/counted.h"
#include "tools/commands.h"
#include "tools/experiment/change_side.h"
#include "tools/experiment/gate_run.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

constexpr std::size_t kBase = 0;  // the page as recorded
/// A load beside the pilot's of base and changes: the warm-up.
constexpr std::size_t kWarmUps = 1;

std::vector<double> values_of_side(const Experiment& experiment, std::size_t side,
                                   std::size_t metric) {
  std::vector<double> values;
  for (const LoadResult::Load& load : experiment.side(side).result().loads) {
    bool const counts =
        !load.warm_up && load.skipped.empty() && load.page.outcome == LoadOutcome::kLoaded;
    auto const value = load.page.*kMetrics[metric].value;
    if (counts && value) values.push_back(*value);
  }
  return values;
}

std::string seconds_text(double seconds) {
  auto const whole = static_cast<std::uint64_t>(std::max(1.0, seconds + .5));
  return whole < 120 ? std::to_string(whole) + " s" : std::to_string(whole / 60) + " min";
}

}  // namespace

const ComparedMetric* MeasuredChange::saving() const {
  if (!comparison.refusals.empty() || comparison.pages.empty()) return nullptr;
  auto const& metrics = comparison.pages.front().metrics;
  return metrics.empty() ? nullptr : &metrics.front();
}

bool MeasuredChange::helps() const {
  auto const* const found = saving();
  return found != nullptr && found->finding.verdict == Verdict::kDifferent &&
         found->finding.shift.estimate < 0;
}

std::optional<int> AdviseRun::run() {
  ends_ = std::chrono::steady_clock::now() + options_.budget;
  if (auto const code = find()) return code;
  if (changes_.empty()) return std::nullopt;
  if (auto const code = pilot()) return code;
  if (auto const code = measure()) return code;
  auto const alpha = options_.compare.alpha / static_cast<double>(changes_.size());
  for (MeasuredChange& change : changes_) change.comparison = compared(change.side, alpha);
  std::ranges::sort(changes_, [](const MeasuredChange& a, const MeasuredChange& b) {
    auto const order = [](const MeasuredChange& each) {
      auto const* const saving = each.saving();
      return std::tuple(!each.helps(), saving == nullptr ? 0 : saving->finding.shift.estimate,
                        each.side);
    };
    return order(a) < order(b);
  });
  return measure_together();
}

int AdviseRun::stopped() const {
  if (Interruption::was_asked()) return say(Interruption::exit_code(), "interrupted");
  return say(experiment_->exit_code(), "cannot load any more pages");
}

std::optional<int> AdviseRun::find() {
  auto base = side_with(options_.words, {}, options_.seed, "advise");
  if (!base) return base.error();
  if (base->cells().size() != 1) {
    return say(kExitUsage,
               "advise takes one page under one configuration; give one URL, browser, protocol, "
               "link and cache");
  }
  std::vector<ExperimentSide> sides;
  sides.push_back(std::move(*base));
  experiment_.emplace(std::move(sides), 0);
  for (std::size_t run = 0; run <= kWarmUps; ++run) {
    if (!experiment_->load(kBase, run)) return stopped();
  }
  load_seconds_ = experiment_->load_seconds();
  auto const first = values_of_side(*experiment_, kBase, options_.compare.metrics.front());
  if (first.empty()) return say(kExitFailed, "the page did not load");
  load_ms_ = first.front();
  // Every side is loaded kPilot times and once to warm up.
  auto const affordable = static_cast<double>(options_.budget.count()) /
                          (load_seconds_ * static_cast<double>(kPilot + kWarmUps));
  auto const most =
      std::min(options_.candidates, static_cast<std::size_t>(std::max(0.0, affordable - 1)));
  if (most == 0) {
    return say(kExitUsage, "a load takes " + seconds_text(load_seconds_) +
                               ": a --budget for one change is " +
                               seconds_text(load_seconds_ * 2 * (kPilot + kWarmUps)));
  }
  auto const candidates = candidates_of(experiment_->side(kBase).result(),
                                        {.most = options_.candidates, .images = options_.images});
  for (const ChangeCandidate& candidate : candidates) {
    if (changes_.size() == most) {
      say(0, "the budget is too short for: " + candidate.what_if);
      continue;
    }
    auto side = side_with(options_.words, {candidate.what_if}, options_.seed, "advise");
    if (!side) continue;  // the reason was printed; others may be possible
    changes_.push_back({.candidates = {candidate}, .side = experiment_->add(std::move(*side))});
  }
  return std::nullopt;
}

bool AdviseRun::round(const std::vector<std::size_t>& sides) {
  while (true) {
    auto const run = ++rounds_ + kWarmUps;
    auto const left =
        std::chrono::duration<double>(ends_ - std::chrono::steady_clock::now()).count();
    std::fprintf(stderr, "round %zu: %s, at most %s left\n", rounds_,
                 counted(sides.size(), "load").c_str(), seconds_text(left).c_str());
    for (std::size_t const side : sides) {
      if (!experiment_->load(side, run)) return false;
    }
    auto const why = experiment_->skip_disturbed(run, counted_loads(options_.compare));
    if (why.empty() || ++disturbed_ >= kDisturbedRunsMax || time_is_up()) return true;
    say(0, "round " + std::to_string(rounds_) + " is repeated: " + why);
  }
}

std::optional<int> AdviseRun::pilot() {
  for (const MeasuredChange& change : changes_) {
    if (!experiment_->load(change.side, 0)) return stopped();
  }
  std::mt19937_64 random(options_.seed);
  std::vector<std::size_t> order(experiment_->sides());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < kPilot; ++i) {
    std::ranges::shuffle(order, random);
    if (!round(order)) return stopped();
  }
  return std::nullopt;
}

std::optional<int> AdviseRun::measure() {
  auto const metric = options_.compare.metrics.front();
  std::vector<AllotmentArm> arms;
  for (std::size_t side = 0; side < experiment_->sides(); ++side) {
    arms.push_back({.deviation = standard_deviation(values_of_side(*experiment_, side, metric)),
                    .cost = experiment_->load_seconds()});
  }
  arms[kBase].weight = shared_baseline_weight(changes_.size());
  auto const left = std::chrono::duration<double>(ends_ - std::chrono::steady_clock::now()).count();
  // A part of it is for what helps, together.
  auto const spent = cost_of(arms, std::vector<std::size_t>(arms.size(), kPilot));
  auto const together = 2 * static_cast<double>(kPilot) * experiment_->load_seconds();
  auto allotted = allot(arms, spent + left - together, kPilot);
  if (!allotted) return std::nullopt;  // the pilot has used the budget
  for (std::size_t& measurements : *allotted) {
    measurements = std::min(measurements, std::max(options_.most_runs, kPilot)) - kPilot;
  }
  for (const MeasuringRound& each : rounds_of(*allotted, options_.seed)) {
    if (time_is_up()) break;
    if (!round(each)) return stopped();
  }
  return std::nullopt;
}

std::optional<int> AdviseRun::measure_together() {
  MeasuredChange all;
  std::vector<std::string> texts;
  std::optional<ExperimentSide> side;
  for (const MeasuredChange& change : changes_) {
    // What a third party is worth is no reason to do without it.
    if (!change.helps() || change.candidates.front().kind == "third party") continue;
    texts.push_back(change.candidates.front().what_if);
    auto with = side_with(options_.words, texts, options_.seed, "advise");
    if (!with) {  // it contradicts a better one
      texts.pop_back();
      continue;
    }
    side.emplace(std::move(*with));
    all.candidates.push_back(change.candidates.front());
  }
  if (all.candidates.size() < 2) return std::nullopt;
  all.side = experiment_->add(std::move(*side));
  if (!experiment_->load(all.side, 0)) return stopped();
  std::mt19937_64 random(options_.seed);
  std::vector<std::size_t> order{kBase, all.side};
  for (std::size_t i = 0; i < kPilot; ++i) {
    std::ranges::shuffle(order, random);
    if (!round(order)) return stopped();
  }
  all.comparison = compared(all.side, options_.compare.alpha);
  together_ = std::move(all);
  return std::nullopt;
}

Comparison AdviseRun::compared(std::size_t side, double alpha) const {
  auto options = options_.compare;
  options.alpha = alpha;
  options.allowed.merge(stated_differences(experiment_->side(kBase), experiment_->side(side)));
  return compare(experiment_->measured(kBase), experiment_->measured(side), options);
}

}  // namespace reprise
