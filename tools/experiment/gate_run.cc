#include "tools/experiment/gate_run.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "analysis/load_groups.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/compare/comparison_text.h"
#include "tools/experiment/remedy.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNoiseShare = 4;  // the noise check ends after a quarter of the budget

/// "load event +31.0 ms (+1.2 %), +28.0 ms to +35.1 ms: different" of each metric.
std::string known_so_far(const GateLook& look) {
  auto text = "look " + std::to_string(look.number) + " of " + std::to_string(look.of) + ", " +
              counted(look.runs, "load") + " a side: ";
  if (!look.comparison.refusals.empty()) {
    return text + printable(look.comparison.refusals.front().text);
  }
  std::string metrics;
  for (const ComparedPage& page : look.comparison.pages) {
    for (const ComparedMetric& each : page.metrics) {
      metrics += (metrics.empty() ? "" : "; ") + metric_summary(each);
    }
  }
  return text + (metrics.empty() ? "no load has a value of what is compared" : metrics);
}

const char* why(GateEnd end) {
  switch (end) {
    case GateEnd::kDecided:
      return "decided";
    case GateEnd::kRefused:
      return "refused";
    case GateEnd::kNoValue:
      return "no value";
    case GateEnd::kOutOfRuns:
      return "out of runs";
    case GateEnd::kOutOfTime:
      return "out of time";
    case GateEnd::kDisturbed:
      return "disturbed";
    case GateEnd::kInterrupted:
      break;
  }
  return "interrupted";
}

/// Runs of both sides that were made, repeats included; none of those that warm up.
std::size_t runs_of(const ExperimentSide& side) {
  const auto& loads = side.result().loads;
  auto const made = std::ranges::count(loads, false, &LoadResult::Load::warm_up);
  return static_cast<std::size_t>(made) / side.cells().size();
}

/// Of loads that could not be made: a side with --strict may have ended like a verdict.
int without_verdict(int exit_code) {
  return exit_code == kExitGate ? int{kExitFailed} : exit_code;
}

/// The groups that the loads of a side will be in.
std::vector<LoadGroup> planned_groups(const ExperimentSide& side) {
  std::vector<LoadGroup> groups;
  for (const LoadCell& cell : side.cells()) {
    groups.push_back({.url = cell.url, .conditions = cell.configuration});
  }
  return groups;
}

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

std::string no_look_text(bool noise_was_checked, std::optional<std::chrono::seconds> needed) {
  std::string text = "out of time before the first look: no verdict. Use a longer --budget";
  if (needed) {
    text += ": the loads up to that look take about " + std::to_string(needed->count()) + " s";
  }
  if (noise_was_checked) text += "; or use --skip-noise-check";
  return text;
}

std::string disturbed_text(const GateResult& result, std::size_t runs) {
  std::size_t disturbed = 0;
  std::string reasons;
  std::vector<std::string> remedies;
  for (auto const& [kind, times] : result.skipped) {
    disturbed += times;
    auto const largest = result.largest.find(kind);
    auto const& why = largest == result.largest.end() ? kind : largest->second;
    reasons += (reasons.empty() ? "" : "; ") + counted(times, "run") + ": " + printable(why) +
               (times > 1 && why != kind ? " (the largest figure)" : "");
    if (auto text = remedy_text(kind); std::ranges::find(remedies, text) == remedies.end()) {
      remedies.push_back(std::move(text));
    }
  }
  auto text = "undecided, since the machine disturbs the loads: " + std::to_string(disturbed) +
              " of " + counted(runs, "run") + " did not count. " + reasons;
  for (const std::string& each : remedies) text += ". " + each;
  return text;
}

std::string no_value_text(const Comparison& comparison) {
  auto const reasons = undecided_reasons(comparison);
  std::string text = "more loads do not help";
  if (!reasons.empty()) text += ": " + reasons.front();
  if (reasons.size() > 1) text += "; and " + std::to_string(reasons.size() - 1) + " more";
  return text;
}

std::expected<GateResult, int> GateRun::run(std::chrono::seconds budget,
                                            const std::filesystem::path& folder,
                                            const AgainA& again) {
  auto const refusals =
      refusals_of(pair_up(planned_groups(experiment_.side(0)), planned_groups(experiment_.side(1)),
                          options_.compare.allowed));
  if (!refusals.empty()) {
    GateResult refused{.end = GateEnd::kRefused};
    refused.look.comparison.refusals.assign(refusals.begin(), refusals.end());
    keep_files(folder, refused);
    return refused;
  }
  auto const ends = Clock::now() + budget;
  noise_was_checked_ = static_cast<bool>(again);
  if (again) {
    if (auto const wrong = check_noise(again, budget)) return std::unexpected(*wrong);
  }
  experiment_.end_by(ends);
  auto result = run_gate(
      options_, {.load = [&](bool b, std::size_t run) { return experiment_.load(b ? 1 : 0, run); },
                 .why_disturbed = [&](std::size_t run) { return why_disturbed(run); },
                 .measured = [&](bool b) { return experiment_.measured(b ? 1 : 0); },
                 .time_left = [&] { return Clock::now() < ends; },
                 .on_look = [](const GateLook& look) { say(0, known_so_far(look)); }});
  if (result.end != GateEnd::kInterrupted) {
    noise_.keep(experiment_.side(0).result(), experiment_.side(0).cells(),
                experiment_.load_seconds(), now());
  }
  keep_files(folder, result);
  if (result.end == GateEnd::kInterrupted) {
    auto const loads = counted(experiment_.loads(), "load");
    if (Interruption::was_asked()) {
      return std::unexpected(say(Interruption::exit_code(), "interrupted after " + loads));
    }
    return std::unexpected(say(without_verdict(experiment_.exit_code()),
                               "cannot load any more pages; stopped after " + loads));
  }
  return result;
}

std::optional<int> GateRun::tell_end(const GateResult& result) const {
  if (result.end == GateEnd::kDisturbed) {
    return say(kExitUndecided, disturbed_text(result, runs_of(experiment_.side(0))));
  }
  if (!result.has_comparison()) {
    std::optional<std::chrono::seconds> needed;
    if (experiment_.loads() > 0) {
      auto const runs = std::min(options_.look_every, options_.most_runs) + 1;  // one warms up
      needed = std::chrono::ceil<std::chrono::seconds>(std::chrono::duration<double>(
          2 * static_cast<double>(runs) * experiment_.load_seconds()));
    }
    return say(kExitUndecided, no_look_text(noise_was_checked_, needed));
  }
  if (result.look.number == 0) {
    say(0, "refused before the first load");
    return std::nullopt;
  }
  auto const no_value =
      result.end == GateEnd::kNoValue ? ": " + no_value_text(result.look.comparison) : "";
  say(0, std::string(why(result.end)) + " after " + counted(result.look.runs, "load") +
             " a side, seed " + std::to_string(options_.seed) + no_value);
  return std::nullopt;
}

boost::json::object GateRun::verdict_json(const GateResult& result) const {
  auto object = comparison_json(result.look.comparison, options_.compare);
  boost::json::object skipped, largest;
  for (auto const& [reason, runs] : result.skipped) skipped[as_utf8(reason)] = runs;
  for (auto const& [reason, text] : result.largest) largest[as_utf8(reason)] = as_utf8(text);
  object["gate"] = {{"end", why(result.end)},          {"runs", result.look.runs},
                    {"looks", result.look.number},     {"looks_at_most", result.look.of},
                    {"most_runs", options_.most_runs}, {"seed", options_.seed},
                    {"skipped", std::move(skipped)},   {"largest", std::move(largest)},
                    {"noise", noise_.json()}};
  return object;
}

void GateRun::keep_files(const std::filesystem::path& folder, const GateResult& result) {
  kept_ = keep_file(folder, "a.json", to_json(experiment_.side(0).result())) &&
          keep_file(folder, "b.json", to_json(experiment_.side(1).result())) &&
          keep_file(folder, "verdict.json", verdict_json(result));
}

std::string GateRun::why_disturbed(std::size_t run) {
  auto why = experiment_.count_or_skip(run, counted_loads(options_.compare));
  if (!why.empty()) print_repeat("run " + std::to_string(run), why);
  return why;
}

std::optional<int> GateRun::check_noise(const AgainA& again, std::chrono::seconds budget) {
  auto const began = Clock::now();
  const ExperimentSide& a = experiment_.side(0);
  if (!noise_.look_up(a.result(), a.cells(), now())) {
    say(0, "measuring the noise of this page on this machine: " +
               counted(NoiseCheck::kLoads, "load") + " of A (--skip-noise-check: do not)");
    auto side = again();
    if (!side) return side.error();
    if (!noise_.measure(std::move(*side), now(), began + budget / kNoiseShare)) {
      if (Interruption::was_asked()) return say(Interruption::exit_code(), "interrupted");
      return say(without_verdict(noise_.exit_code()), "cannot load A");
    }
  }
  auto const left = std::chrono::ceil<std::chrono::seconds>(began + budget - Clock::now());
  std::istringstream lines(noise_.text(left));
  for (std::string line; std::getline(lines, line);) say(0, line);
  return std::nullopt;
}

}  // namespace reprise
