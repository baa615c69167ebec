#include "tools/advise/advise_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "analysis/advice/more_loads.h"
#include "analysis/advice/ranking.h"
#include "analysis/allotment/allotment.h"
#include "analysis/allotment/rounds.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "pageload/browser/launch.h"
#include "tools/advise/advice_text.h"
#include "tools/advise/withheld_time.h"
#include "tools/commands.h"
#include "tools/experiment/change_side.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

constexpr std::size_t kBase = 0;  // the page as recorded
/// A load beside the pilot's of base and changes: the warm-up.
constexpr std::size_t kWarmUps = 1;
/// For each change that is to be measured, so many are predicted.
constexpr std::size_t kPredictedPerMeasured = 3;
/// A machine that disturbs a load so often leaves no time for the others. A bound of each load, not
/// of all (DisturbedRepeats): it is the budget that ends them, and each side keeps what counts.
constexpr int kRepeatsMax = 3;
/// What is predicted to save less, as is a share of less, could not be told from noise.
constexpr double kSavingLeastUs = 2'000;

std::vector<double> values_of_side(const Experiment& experiment, std::size_t side,
                                   std::size_t metric) {
  std::vector<double> values;
  for (const LoadResult::Load& load : experiment.side(side).result().loads) {
    auto const value = load.page.*kMetrics[metric].value;
    if (load.counts() && value) values.push_back(*value);
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

/// At least 1.
std::chrono::seconds whole_seconds(double seconds) {
  return std::chrono::seconds(std::llround(std::max(1.0, seconds)));
}

/// At least that long, as --budget takes it.
std::string budget_text(double seconds) {
  auto const whole = static_cast<std::uint64_t>(std::ceil(seconds));
  return whole < 120 ? std::to_string(whole) + "s" : std::to_string((whole + 59) / 60) + "m";
}

std::vector<ExperimentSide> alone(ExperimentSide side) {
  std::vector<ExperimentSide> sides;
  sides.push_back(std::move(side));
  return sides;
}

}  // namespace

std::optional<int> AdviseRun::run() {
  auto const code = find_and_measure();
  for (auto const* const each : {&watched_, &experiment_}) {
    for (std::size_t side = 0; each->has_value() && side < (*each)->sides(); ++side) {
      advice_.lost.add((*each)->side(side).result());
    }
  }
  return code;
}

std::optional<int> AdviseRun::find_and_measure() {
  ends_ = std::chrono::steady_clock::now() + options_.budget;
  if (auto const code = watch()) return code;
  if (auto const code = find()) return code;
  if (advice_.changes.empty()) return options_.keeps_loads ? pilot() : std::nullopt;
  auto code = pilot();
  if (!code) code = measure();
  auto const alpha = options_.compare.alpha / static_cast<double>(advice_.changes.size());
  for (MeasuredChange& change : advice_.changes) judge(change, alpha);
  advice_.sort();
  advice_.budget_to_decide = budget_to_decide();
  return code ? code : measure_together();
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
  if (base->archive().empty()) return say(kExitUsage, "advise needs an archive, not --live");
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
  auto const metric = options_.compare.metrics.front();
  if (values_of_side(*watched_, kBase, metric).empty()) {
    bool const loaded = !page_.loads.empty();
    return say(kExitFailed, loaded ? "no load of the page has a " +
                                         std::string(kMetrics[metric].title) +
                                         "; choose another --metric"
                                   : "the page did not load");
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

double AdviseRun::seconds_together() const {
  return experiment_->load_seconds() * static_cast<double>(3 * kPilot + kWarmUps);
}

std::expected<ExperimentSide, std::string> AdviseRun::side_of(const MeasuredChange& change) const {
  auto side = try_side_with(options_.words, {change.candidates.front().what_if}, options_.seed);
  if (!side) return std::unexpected(std::move(side.error().text));
  return std::move(*side);
}

std::vector<MeasuredChange> AdviseRun::ranked() {
  bool const is_predicted = milestone_of(options_.compare.metrics.front()).has_value();
  std::vector<MeasuredChange> tried;
  std::vector<PromisedChange> promised;  // the same ones
  std::vector<MeasuredChange> others;
  for (ChangeCandidate& candidate : candidates_of(
           watched_->side(kBase).result(),
           {.most = kPredictedPerMeasured * options_.candidates, .images = options_.images})) {
    if (Interruption::was_asked()) return {};
    MeasuredChange change{.candidates = {std::move(candidate)}};
    auto const& found = change.candidates.front();
    // Not kept: it can be a copy of the archive.
    auto const side = side_of(change);
    if (!side) {
      not_measure(std::move(change), side.error());
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
    (saves_nothing ? others : tried).push_back(std::move(change));
  }
  if (tried.empty()) return others;  // the model can be wrong
  for (MeasuredChange& each : others) not_measure(std::move(each), "predicted to save nothing");
  std::vector<MeasuredChange> ranked;
  for (auto const place : by_promise(promised)) ranked.push_back(std::move(tried[place]));
  return ranked;
}

void AdviseRun::not_measure(MeasuredChange change, std::string why) {
  advice_.not_tried.push_back({.candidate = std::move(change.candidates.front()),
                               .predicted = change.predicted,
                               .why = std::move(why)});
}

std::optional<int> AdviseRun::find() {
  if (seconds_of(1) > seconds_left()) {
    std::chrono::duration<double> const more(seconds_of(1) - seconds_left());
    return say(kExitUsage,
               "a load takes " + duration_text(whole_seconds(load_seconds_)) +
                   ": for one change, give --budget " +
                   budget_text(std::chrono::duration<double>(options_.budget + more).count()));
  }
  auto tried = ranked();
  if (Interruption::was_asked()) return stopped(*watched_);
  auto most = options_.candidates;
  while (most > 0 && seconds_of(most) > seconds_left()) --most;
  for (MeasuredChange& each : tried) {
    if (advice_.changes.size() == options_.candidates) break;
    if (advice_.changes.size() == most) {
      not_measure(std::move(each), "the budget is too short");
      continue;
    }
    auto side = side_of(each);
    if (!side) {
      not_measure(std::move(each), side.error());
      continue;
    }
    each.side = experiment_->add(std::move(*side));
    advice_.changes.push_back(std::move(each));
  }
  auto const wanted = std::min(options_.candidates, tried.size());
  if (advice_.changes.size() < wanted) {
    std::chrono::duration<double> const more(seconds_of(wanted) - seconds_left());
    advice_.budget_for_all = std::chrono::ceil<std::chrono::minutes>(options_.budget + more);
  }
  return std::nullopt;
}

bool AdviseRun::round(const std::vector<std::size_t>& sides) {
  std::fprintf(stderr, "round %zu: %s, at most %s left\n", ++rounds_,
               counted(sides.size(), "load").c_str(),
               duration_text(whole_seconds(seconds_left())).c_str());
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

std::optional<int> AdviseRun::measure() {
  auto const metric = options_.compare.metrics.front();
  std::vector<AllotmentArm> arms;
  for (std::size_t side = 0; side < experiment_->sides(); ++side) {
    arms.push_back({.deviation = standard_deviation(values_of_side(*experiment_, side, metric)),
                    .cost = experiment_->load_seconds()});
  }
  arms[kBase].weight = shared_baseline_weight(advice_.changes.size());
  auto const left = seconds_left();
  auto const spent = cost_of(arms, std::vector<std::size_t>(arms.size(), kPilot));
  auto const may_help =
      advice_.changes.size() - static_cast<std::size_t>(std::ranges::count_if(
                                   advice_.changes, &MeasuredChange::is_of_third_party));
  auto const together = seconds_withheld(may_help, seconds_together(), left);
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
  change.losses = losses_of(experiment_->side(kBase), experiment_->side(change.side));
}

}  // namespace reprise
