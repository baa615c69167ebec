#include "tools/advise/advise_run.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <utility>

#include "analysis/advice/more_loads.h"
#include "analysis/advice/ranking.h"
#include "analysis/allotment/allotment.h"
#include "analysis/allotment/rounds.h"
#include "base/text/counted.h"
#include "pageload/browser/launch.h"
#include "tools/commands.h"
#include "tools/experiment/change_side.h"
#include "tools/experiment/gate_run.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

constexpr std::size_t kBase = 0;  // the page as recorded
/// A load beside the pilot's of base and changes: the warm-up.
constexpr std::size_t kWarmUps = 1;
/// For each change that is to be measured, so many are predicted.
constexpr std::size_t kPredictedPerMeasured = 3;
/// A machine that disturbs a load so often leaves no time for the others.
constexpr int kRepeatsMax = 3;
/// What is predicted to save less, as is a share of less, could not be told from noise.
constexpr double kSavingLeastUs = 2'000;

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

/// The milestone that a metric is the time of; nothing if it is of none.
std::optional<Milestone> milestone_of(std::size_t metric) {
  auto const value = kMetrics[metric].value;
  if (value == &PageLoad::first_contentful_paint_ms) return Milestone::kFirstContentfulPaint;
  if (value == &PageLoad::largest_contentful_paint_ms) return Milestone::kLargestContentfulPaint;
  if (value == &PageLoad::load_event_ms) return Milestone::kLoadEvent;
  if (value == &PageLoad::last_load_ms) return Milestone::kLastLoad;
  return std::nullopt;
}

std::string seconds_text(double seconds) {
  auto const whole = static_cast<std::uint64_t>(std::max(1.0, seconds + .5));
  return whole < 120 ? std::to_string(whole) + " s" : std::to_string(whole / 60) + " min";
}

std::vector<ExperimentSide> alone(ExperimentSide side) {
  std::vector<ExperimentSide> sides;
  sides.push_back(std::move(side));
  return sides;
}

}  // namespace

std::optional<int> AdviseRun::run() {
  ends_ = std::chrono::steady_clock::now() + options_.budget;
  if (auto const code = watch()) return code;
  if (auto const code = find()) return code;
  if (advice_.changes.empty()) return options_.keeps_loads ? pilot() : std::nullopt;
  if (auto const code = pilot()) return code;
  if (auto const code = measure()) return code;
  auto const alpha = options_.compare.alpha / static_cast<double>(advice_.changes.size());
  for (MeasuredChange& change : advice_.changes) judge(change, alpha);
  advice_.sort();
  advice_.budget_to_decide = budget_to_decide();
  return measure_together();
}

std::optional<std::chrono::minutes> AdviseRun::budget_to_decide() const {
  double most = 0;
  for (const MeasuredChange& change : advice_.changes) {
    auto const* const saving = change.saving();
    if (saving == nullptr || !change.losses.empty()) continue;
    auto const times = times_the_loads_to_decide(saving->finding);
    if (!times) continue;
    bool const may_load = *times * static_cast<double>(saving->finding.of_b) <=
                          static_cast<double>(options_.most_runs);
    if (may_load) most = std::max(most, *times);
  }
  if (most == 0) return std::nullopt;
  std::chrono::duration<double> const budget(options_.budget);
  return std::chrono::ceil<std::chrono::minutes>(budget * most);
}

int AdviseRun::stopped(const Experiment& experiment) const {
  if (Interruption::was_asked()) return say(Interruption::exit_code(), "interrupted");
  return say(experiment.exit_code(), "cannot load any more pages");
}

std::optional<int> AdviseRun::watch() {
  auto base = side_with(options_.words, {}, options_.seed, "advise");
  if (!base) return base.error();
  if (base->cells().size() != 1) {
    return say(kExitUsage,
               "advise takes one page under one configuration; give one URL, browser, protocol, "
               "link and cache");
  }
  bool const can_trace = !is_firefox(base->cells().front().configuration.browser);
  auto side = side_with(can_trace ? traced(options_.words, options_.traces) : options_.words, {},
                        options_.seed, "advise");
  if (!side) return side.error();
  experiment_.emplace(alone(std::move(*base)), 0);
  watched_.emplace(alone(std::move(*side)), 0);
  for (std::size_t run = 0; run < kWarmUps + kWatched; ++run) {
    std::fprintf(stderr, "learning the page: load %zu of %zu\n", run + 1, kWarmUps + kWatched);
    if (!watched_->load(kBase, run)) return stopped(*watched_);
  }
  load_seconds_ = watched_->load_seconds();
  page_ = learn_page(watched_->side(kBase).result());
  if (values_of_side(*watched_, kBase, options_.compare.metrics.front()).empty()) {
    return say(kExitFailed, "the page did not load");
  }
  return std::nullopt;
}

void AdviseRun::predict(const ExperimentSide& side, MeasuredChange& change) const {
  auto const milestone = milestone_of(options_.compare.metrics.front());
  if (!milestone) {
    change.not_predicted = "only load event, last load and contentful paints are predicted";
    return;
  }
  auto const predicted = predict_side(watched_->side(kBase), side, page_, options_.seed);
  if (!predicted) {
    change.not_predicted = predicted.error();
    return;
  }
  auto const& milestones = predicted->prediction.milestones;
  auto const found = std::ranges::find(milestones, *milestone, &MilestonePrediction::milestone);
  if (found == milestones.end()) {
    change.not_predicted = "too few loads reached it";
  } else {
    change.predicted = found->quantiles.front();
  }
}

double AdviseRun::seconds_of(std::size_t changes) const {
  return load_seconds_ * static_cast<double>((changes + 1) * (kPilot + kWarmUps));
}

std::vector<AdviseRun::Tried> AdviseRun::ranked() {
  bool const is_predicted = milestone_of(options_.compare.metrics.front()).has_value();
  std::vector<Tried> tried;
  std::vector<PromisedChange> promised;  // the same ones
  std::vector<Tried> others;
  for (ChangeCandidate& candidate : candidates_of(
           watched_->side(kBase).result(),
           {.most = kPredictedPerMeasured * options_.candidates, .images = options_.images})) {
    MeasuredChange change{.candidates = {std::move(candidate)}};
    auto const& found = change.candidates.front();
    auto side = try_side_with(options_.words, {found.what_if}, options_.seed);
    if (!side) {
      not_measure(std::move(change), side.error().text);
      continue;
    }
    predict(*side, change);
    bool const saves_nothing =
        change.predicted && change.predicted->saving_high_us < kSavingLeastUs;
    // A share is the most that a request can save alone.
    auto const worth = change.predicted ? change.predicted->saving_us / 1000 : found.share_ms;
    if (!saves_nothing) {
      promised.push_back({.saving_ms = is_predicted ? worth : 0, .group = found.group});
    }
    (saves_nothing ? others : tried)
        .push_back({.change = std::move(change), .side = std::move(*side)});
  }
  if (tried.empty()) return others;  // the model can be wrong
  for (Tried& each : others) not_measure(std::move(each.change), "predicted to save nothing");
  std::vector<Tried> ranked;
  for (auto const place : by_promise(promised)) ranked.push_back(std::move(tried[place]));
  return ranked;
}

void AdviseRun::not_measure(MeasuredChange change, std::string why) {
  advice_.not_tried.push_back({.candidate = std::move(change.candidates.front()),
                               .predicted = change.predicted,
                               .why = std::move(why)});
}

std::optional<int> AdviseRun::find() {
  auto most = options_.candidates;
  while (most > 0 && seconds_of(most) > seconds_left()) --most;
  if (most == 0) {
    auto const watched = load_seconds_ * static_cast<double>(kWatched + kWarmUps);
    return say(kExitUsage, "a load takes " + seconds_text(load_seconds_) +
                               ": a --budget for one change is " +
                               seconds_text(watched + seconds_of(1)));
  }
  auto tried = ranked();
  for (Tried& each : tried) {
    if (advice_.changes.size() == options_.candidates) break;
    if (advice_.changes.size() == most) {
      not_measure(std::move(each.change), "the budget is too short");
      continue;
    }
    each.change.side = experiment_->add(std::move(each.side));
    advice_.changes.push_back(std::move(each.change));
  }
  auto const wanted = std::min(options_.candidates, tried.size());
  if (advice_.changes.size() < wanted) {
    std::chrono::duration<double> const more(seconds_of(wanted) - seconds_left());
    advice_.budget_for_all = std::chrono::ceil<std::chrono::minutes>(options_.budget + more);
  }
  return std::nullopt;
}

bool AdviseRun::round(const std::vector<std::size_t>& sides) {
  auto const run = ++rounds_;
  std::fprintf(stderr, "round %zu: %s, at most %s left\n", rounds_,
               counted(sides.size(), "load").c_str(), seconds_text(seconds_left()).c_str());
  for (std::size_t const side : sides) {
    for (int repeats = 0;; ++repeats) {
      if (!experiment_->load(side, run)) return false;
      auto const why = experiment_->skip_disturbed_last(side, counted_loads(options_.compare));
      if (why.empty() || repeats == kRepeatsMax || time_is_up()) break;
      say(0, "a load is repeated: " + why);
    }
  }
  return true;
}

std::optional<int> AdviseRun::pilot() {
  for (std::size_t side = 0; side < experiment_->sides(); ++side) {
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

std::optional<int> AdviseRun::measure() {
  auto const metric = options_.compare.metrics.front();
  std::vector<AllotmentArm> arms;
  for (std::size_t side = 0; side < experiment_->sides(); ++side) {
    arms.push_back({.deviation = standard_deviation(values_of_side(*experiment_, side, metric)),
                    .cost = experiment_->load_seconds()});
  }
  arms[kBase].weight = shared_baseline_weight(advice_.changes.size());
  auto const left = seconds_left();
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
    if (!round(each)) return stopped(*experiment_);
  }
  return std::nullopt;
}

std::optional<int> AdviseRun::measure_together() {
  MeasuredChange all;
  std::vector<std::string> texts;
  std::optional<ExperimentSide> side;
  for (const MeasuredChange& change : advice_.changes) {
    if (!change.is_advised()) continue;
    texts.push_back(change.candidates.front().what_if);
    auto with = try_side_with(options_.words, texts, options_.seed);
    if (!with) {  // it contradicts a better one
      texts.pop_back();
      continue;
    }
    side.emplace(std::move(*with));
    all.candidates.push_back(change.candidates.front());
  }
  if (all.candidates.size() < 2 || time_is_up()) return std::nullopt;
  predict(*side, all);
  all.side = experiment_->add(std::move(*side));
  if (!experiment_->load(all.side, 0)) return stopped(*experiment_);
  std::mt19937_64 random(options_.seed);
  std::vector<std::size_t> order{kBase, all.side};
  for (std::size_t i = 0; i < kPilot; ++i) {
    std::ranges::shuffle(order, random);
    if (!round(order)) return stopped(*experiment_);
  }
  judge(all, options_.compare.alpha);
  advice_.together = std::move(all);
  return std::nullopt;
}

void AdviseRun::judge(MeasuredChange& change, double alpha) const {
  ExperimentSide const& recorded = experiment_->side(kBase);
  ExperimentSide const& changed = experiment_->side(change.side);
  auto options = options_.compare;
  options.alpha = alpha;
  options.allowed.merge(stated_differences(recorded, changed));
  change.comparison =
      compare(experiment_->measured(kBase), experiment_->measured(change.side), options);
  change.losses = losses_of(recorded, changed);
}

}  // namespace reprise
