#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <utility>

#include "analysis/advice/more_loads.h"
#include "analysis/allotment/capped_allotment.h"
#include "analysis/allotment/rounds.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "tools/advise/advice_text.h"
#include "tools/advise/advise_run.h"
#include "tools/advise/withheld_time.h"
#include "tools/experiment/change_side.h"
#include "tools/process/say.h"

// The part of AdviseRun that loads: changes alone, and those that help together.

namespace reprise {
namespace {

/// A machine that disturbs a load so often leaves no time for the others. A bound of each load, not
/// of all (DisturbedRepeats): it is the budget that ends them, and each side keeps what counts.
constexpr int kRepeatsMax = 3;

}  // namespace

std::vector<double> AdviseRun::values_of(const Experiment& experiment, std::size_t side) const {
  auto const metric = options_.compare.metrics.front();
  std::vector<double> values;
  for (const LoadResult::Load& load : experiment.side(side).result().loads) {
    auto const value = load.page.*kMetrics[metric].value;
    if (load.counts() && value) values.push_back(*value);
  }
  return values;
}

double AdviseRun::seconds_together() const {
  return experiment_->load_seconds() * static_cast<double>(3 * kPilot + kWarmUps);
}

std::optional<int> AdviseRun::measure_alone() {
  auto const began = std::chrono::steady_clock::now();
  auto code = pilot();
  if (!code) code = measure();
  look();
  if (!code) code = measure_undecided();
  look_again();
  std::chrono::duration<double> const measuring(std::chrono::steady_clock::now() - began);
  advice_.sort();
  advice_.budget_to_decide = budget_to_decide(measuring);
  return code;
}

std::optional<std::chrono::minutes> AdviseRun::budget_to_decide(
    std::chrono::duration<double> measuring) const {
  double most = 0;
  for (const MeasuredChange& change : advice_.changes) {
    if (!change.is_undecided()) continue;
    auto const& finding = change.saving()->finding;
    auto const times = times_the_loads_to_decide(finding);
    if (!times) continue;
    bool const may_load = *times * static_cast<double>(std::max(finding.of_a, finding.of_b)) <=
                          static_cast<double>(options_.most_runs);
    if (may_load) most = std::max(most, *times);
  }
  if (most == 0) return std::nullopt;
  return budget_for_loads(options_.budget, measuring, most);
}

bool AdviseRun::round(const std::vector<std::size_t>& sides) {
  std::fprintf(stderr, "round %zu: %s, at most %s left\n", ++rounds_,
               counted(sides.size(), "load").c_str(),
               duration_text(most_time_left(std::chrono::steady_clock::duration::max(),
                                            ends_ - std::chrono::steady_clock::now()))
                   .c_str());
  for (auto const& [side, run] : steps_of(sides, runs_ + 1)) {
    if (time_is_up()) break;
    runs_ = std::max(runs_, run);
    for (int repeats = 0;; ++repeats) {
      if (!experiment_->load(side, run)) return false;
      auto const why = experiment_->count_or_skip_last(side, counted_loads(options_.compare));
      if (why.empty() || repeats == kRepeatsMax || time_is_up()) break;
      print_repeat("a load", why);
    }
  }
  return true;
}

std::optional<int> AdviseRun::pilot() {
  for (std::size_t side = 0; side < experiment_->sides() && !time_is_up(); ++side) {
    if (!experiment_->load(side, 0)) return stopped(*experiment_);
  }
  std::mt19937_64 random(options_.seed);
  std::vector<std::size_t> order(experiment_->sides());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < kPilot && !time_is_up(); ++i) {
    std::ranges::shuffle(order, random);
    if (!round(order)) return stopped(*experiment_);
  }
  if (time_is_up()) {
    say(0, "the budget is over: repeated and slow loads have used it up");
  }
  return std::nullopt;
}

std::optional<int> AdviseRun::load_rounds(std::span<const std::size_t> loads, std::uint64_t seed) {
  for (const MeasuringRound& each : rounds_of(loads, seed)) {
    if (time_is_up()) break;
    if (!round(each)) return stopped(*experiment_);
  }
  return std::nullopt;
}

std::optional<int> AdviseRun::measure() {
  planned_.assign(experiment_->sides(), kPilot);
  if (time_is_up()) return std::nullopt;  // the pilot has used the budget
  std::vector<AllotmentArm> arms;
  for (std::size_t side = 0; side < experiment_->sides(); ++side) {
    arms.push_back({.deviation = standard_deviation(values_of(*experiment_, side)),
                    .cost = experiment_->load_seconds()});
  }
  arms[kBase].weight = shared_baseline_weight(advice_.changes.size());
  auto const left = seconds_left();
  auto const all = cost_of(arms, planned_) + left;
  auto const may_help =
      advice_.changes.size() - static_cast<std::size_t>(std::ranges::count_if(
                                   advice_.changes, &MeasuredChange::is_of_third_party));
  auto const together = seconds_withheld(may_help, seconds_together(), left);
  auto const share = (all - together) / all;
  // No side may be at its limit before the undecided changes get what is left.
  auto const most = static_cast<std::size_t>(share * static_cast<double>(options_.most_runs));
  auto const allotted = allot_capped(arms, all - together, kPilot, most);
  if (!allotted) return std::nullopt;  // the time is up by now
  planned_ = *allotted;
  first_share_ = share;
  kept_seconds_ = together;
  auto more = planned_;
  for (std::size_t& loads : more) loads -= kPilot;
  return load_rounds(more, options_.seed);
}

std::optional<int> AdviseRun::measure_undecided() {
  auto const helping = std::ranges::count_if(advice_.changes, &MeasuredChange::is_advised);
  kept_seconds_ = seconds_of_steps(static_cast<std::size_t>(helping), seconds_together());
  if (first_share_ >= 1 || time_is_up()) return std::nullopt;
  std::vector<std::size_t> made(planned_.size(), 0);
  for (const MeasuredChange& change : advice_.changes) {
    if (!change.is_undecided()) continue;
    made[kBase] = planned_[kBase];
    made[change.side] = planned_[change.side];
  }
  auto const paid = (seconds_left() - kept_seconds_) / experiment_->load_seconds();
  return load_rounds(further_loads(made, paid, options_.most_runs), options_.seed + 1);
}

LoadsBeside AdviseRun::loads_beside(const MeasuredChange& change) const {
  return {.recorded = values_of(*experiment_, kBase).size(),
          .changed = values_of(*experiment_, change.side).size()};
}

void AdviseRun::look() {
  auto const level = first_look_level(alpha_of_each(), first_share_);
  for (MeasuredChange& change : advice_.changes) {
    judge(change, level);
    first_look_.push_back(loads_beside(change));
  }
}

void AdviseRun::look_again() {
  if (first_share_ >= 1) return;  // all of alpha is spent
  for (std::size_t i = 0; i < advice_.changes.size(); ++i) {
    MeasuredChange& change = advice_.changes[i];
    if (!change.is_undecided()) continue;
    judge(change,
          last_look_level(alpha_of_each(), first_share_, first_look_[i], loads_beside(change)));
  }
}

std::optional<int> AdviseRun::measure_together() {
  kept_seconds_ = 0;
  std::vector<const MeasuredChange*> helping;
  for (const MeasuredChange& change : advice_.changes) {
    if (change.is_advised()) helping.push_back(&change);
  }
  if (helping.size() < 2) return std::nullopt;
  auto best = *helping.front();
  std::vector<std::string> texts{best.candidates.front().what_if};
  for (const MeasuredChange* const next : std::span(helping).subspan(1)) {
    auto const& candidate = next->candidates.front();
    auto const leave_out = [&](std::string why, bool is_measured = false) {
      advice_.left_out.push_back(
          {.candidate = candidate, .why = std::move(why), .is_measured = is_measured});
    };
    if (seconds_left() < seconds_together()) {
      leave_out("not tried together, since the budget is over");
      continue;
    }
    texts.push_back(candidate.what_if);
    auto with = try_side_with(options_.words, texts, options_.seed);
    texts.pop_back();
    if (!with) {
      leave_out("it contradicts the others");
      continue;
    }
    MeasuredChange tried{.candidates = best.candidates};
    tried.candidates.push_back(candidate);
    predict(*with, tried);
    // Earlier loads were not made in turn with these.
    auto const first_run = runs_ + 1;
    if (auto const code = measure_beside(best.side, std::move(*with), tried)) return code;
    if (experiment_->measured(tried.side, first_run).loads.empty()) {
      leave_out("not measured together, since the budget is over");
      continue;
    }
    judge(tried, options_.compare.alpha, first_run);
    MeasuredChange more;  // than the best without it
    more.comparison = compared(best.side, tried.side, options_.compare.alpha, first_run);
    if (!tried.helps() || !more.is_faster()) {
      leave_out(reason_against(tried, more), more.saving() != nullptr);
      continue;
    }
    texts.push_back(candidate.what_if);
    best = std::move(tried);
  }
  if (best.candidates.size() > 1) advice_.together = std::move(best);
  return std::nullopt;
}

std::optional<int> AdviseRun::measure_beside(std::size_t before, ExperimentSide with,
                                             MeasuredChange& change) {
  change.side = experiment_->add(std::move(with));
  if (!experiment_->load(change.side, 0)) return stopped(*experiment_);
  std::mt19937_64 random(options_.seed);
  std::vector<std::size_t> order{kBase, before, change.side};
  for (std::size_t i = 0; i < kPilot && !time_is_up(); ++i) {
    std::ranges::shuffle(order, random);
    if (!round(order)) return stopped(*experiment_);
  }
  return std::nullopt;
}

Comparison AdviseRun::compared(std::size_t a, std::size_t b, double alpha,
                               std::size_t first_run) const {
  auto options = options_.compare;
  options.alpha = alpha;
  options.allowed.merge(stated_differences(experiment_->side(a), experiment_->side(b)));
  return compare(experiment_->measured(a, first_run), experiment_->measured(b, first_run), options);
}

void AdviseRun::judge(MeasuredChange& change, double alpha, std::size_t first_run) const {
  change.comparison = compared(kBase, change.side, alpha, first_run);
  change.level = 1 - alpha;
  change.losses = losses_of(experiment_->side(kBase), experiment_->side(change.side));
}

}  // namespace reprise
