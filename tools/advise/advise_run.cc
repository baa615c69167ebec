#include "tools/advise/advise_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "analysis/advice/ranking.h"
#include "base/text/formatted.h"
#include "pageload/browser/launch.h"
#include "tools/commands.h"
#include "tools/experiment/change_side.h"
#include "tools/predict/perturbed_page.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

/// For each change that is to be measured, so many are predicted.
constexpr std::size_t kPredictedPerMeasured = 3;
/// What is predicted to save less, as is a share of less, could not be told from noise.
constexpr double kSavingLeastUs = 2'000;

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

bool saves_nothing(const MeasuredChange& change) {
  return change.predicted && change.predicted->saving_high_us < kSavingLeastUs;
}

std::vector<ExperimentSide> alone(ExperimentSide side) {
  std::vector<ExperimentSide> sides;
  sides.push_back(std::move(side));
  return sides;
}

}  // namespace

std::optional<int> AdviseRun::run() {
  auto code = find_and_measure();
  if (!code && options_.takes_pictures) code = take_pictures();
  for (auto const* const each : {&watched_, &experiment_}) {
    for (std::size_t side = 0; each->has_value() && side < (*each)->sides(); ++side) {
      advice_.lost.add((*each)->side(side).result());
    }
  }
  return code;
}

std::optional<int> AdviseRun::find_and_measure() {
  advice_.alpha = options_.compare.alpha;
  ends_ = std::chrono::steady_clock::now() + options_.budget;
  if (auto const code = watch()) return code;
  if (auto const code = find()) return code;
  if (advice_.changes.empty()) return options_.keeps_loads ? pilot() : std::nullopt;
  auto const code = measure_alone();
  return code ? code : measure_together();
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
  if (auto const tested = use_kept_tests(watched_->side(kBase), page_)) say(0, *tested);
  if (values_of(*watched_, kBase).empty()) {
    auto const metric = options_.compare.metrics.front();
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

std::expected<ExperimentSide, std::string> AdviseRun::side_of(const MeasuredChange& change) const {
  auto side = try_side_with(options_.words, {change.candidates.front().what_if}, options_.seed);
  if (!side) return std::unexpected(std::move(side.error().text));
  return std::move(*side);
}

std::vector<MeasuredChange> AdviseRun::ranked() {
  bool const is_predicted = milestone_of(options_.compare.metrics.front()).has_value();
  std::vector<MeasuredChange> tried;
  std::vector<PromisedChange> promised;  // the same ones
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
    // A share is the most that a request can save alone.
    auto const worth = change.predicted ? change.predicted->saving_us / 1000 : found.share_ms;
    promised.push_back({.saving_ms = is_predicted ? worth : 0,
                        .group = found.group,
                        .saves_nothing = saves_nothing(change),
                        .share_ms = found.share_ms});
    tried.push_back(std::move(change));
  }
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
  auto changes = ranked();
  if (Interruption::was_asked()) return stopped(*watched_);
  auto const could_help =
      changes.size() - static_cast<std::size_t>(std::ranges::count_if(changes, saves_nothing));
  AdvicePlaces const places{.asked = options_.candidates,
                            .paid = paid_by(seconds_left()),
                            .spare = paid_by(seconds_left() / 2)};
  for (std::size_t rank = 0; rank < changes.size(); ++rank) {
    put(std::move(changes[rank]), place_of(rank, could_help, places));
  }
  auto const wanted = std::min(places.asked, could_help);
  if (places.paid < wanted) {
    std::chrono::duration<double> const more(seconds_of(wanted) - seconds_left());
    advice_.budget_for_all = std::chrono::ceil<std::chrono::minutes>(options_.budget + more);
  }
  if (could_help > places.asked) {
    advice_.beyond->candidates = places.asked;
    advice_.beyond->enough = std::min(could_help, kCandidatesMax);
  }
  return std::nullopt;
}

std::size_t AdviseRun::paid_by(double seconds) const {
  auto paid = options_.candidates;
  while (paid > 0 && seconds_of(paid) > seconds) --paid;
  return paid;
}

void AdviseRun::put(MeasuredChange change, AdvicePlace place) {
  switch (place) {
    case AdvicePlace::kMeasured:
      break;
    case AdvicePlace::kSavesNothing:
      return not_measure(std::move(change), "predicted to save nothing");
    case AdvicePlace::kNotPaid:
      return not_measure(std::move(change), "the budget is too short");
    case AdvicePlace::kNotAsked:
      count_beyond(change);
      return not_measure(std::move(change), "it promises less than the " +
                                                std::to_string(options_.candidates) +
                                                " that --candidates allows");
  }
  auto side = side_of(change);
  if (!side) return not_measure(std::move(change), side.error());
  change.side = experiment_->add(std::move(*side));
  advice_.changes.push_back(std::move(change));
}

void AdviseRun::count_beyond(const MeasuredChange& change) {
  if (!advice_.beyond) advice_.beyond.emplace();
  auto& beyond = *advice_.beyond;
  ++beyond.changes;
  if (!change.predicted) return;
  auto const saving_us = change.predicted->saving_us;
  beyond.best_saving_us = std::max(saving_us, beyond.best_saving_us.value_or(saving_us));
}

}  // namespace reprise
