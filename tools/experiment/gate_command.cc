#include <CLI/CLI.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <sstream>

#include "analysis/gate.h"
#include "base/text/counted.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/compare/comparison_text.h"
#include "tools/compare/noise_floor_text.h"
#include "tools/experiment/experiment.h"
#include "tools/experiment/noise_check.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct GateFlags {
  std::vector<std::string> sides;
  CompareFlags compare;
  std::size_t most_runs = 30;
  std::size_t look_every = 5;
  std::string budget;
  std::optional<std::uint64_t> seed;
  fs::path output;
  bool noise = false;
  fs::path loads;
  std::size_t noise_loads = 0;
  std::size_t splits = 2000;
  bool skip_noise_check = false;
};

int say(int exit_code, const std::string& text) {
  std::fprintf(stderr, "reprise: %s\n", text.c_str());
  return exit_code;
}

/// "90s", "10m", "1h".
std::optional<std::chrono::seconds> parse_time(const std::string& text) {
  char unit = 0;
  unsigned value = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%6u%c%n", &value, &unit, &used) != 2 ||
      static_cast<std::size_t>(used) != text.size()) {
    return std::nullopt;
  }
  if (unit == 's') return std::chrono::seconds(value);
  if (unit == 'm') return std::chrono::minutes(value);
  if (unit == 'h') return std::chrono::hours(value);
  return std::nullopt;
}

/// "load event +31.0 ms (+1.2 %), +28.0 ms to +35.1 ms: different" of each metric.
std::string known_so_far(const GateLook& look) {
  auto text = "look " + std::to_string(look.number) + " of " + std::to_string(look.of) + ", " +
              counted(look.runs, "load") + " a side: ";
  if (!look.comparison.refusals.empty()) return text + look.comparison.refusals.front().text;
  std::string metrics;
  for (const ComparedPage& page : look.comparison.pages) {
    for (const ComparedMetric& each : page.metrics) {
      metrics += (metrics.empty() ? "" : "; ") + metric_summary(each);
    }
  }
  return text + metrics;
}

const char* why(GateEnd end) {
  switch (end) {
    case GateEnd::kDecided:
      return "decided";
    case GateEnd::kRefused:
      return "refused";
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

class Gate {
 public:
  Gate(const GateFlags& flags, GateOptions options, Experiment experiment)
      : flags_(flags),
        options_(std::move(options)),
        experiment_(std::move(experiment)),
        noise_(options_, NoiseStore(NoiseStore::default_folder())) {}

  int run(std::chrono::seconds budget) {
    auto const ends = Clock::now() + budget;
    if (!flags_.skip_noise_check) {
      if (auto const wrong = check_noise()) return *wrong;
    }
    auto const& compare = options_.compare;
    auto const result =
        run_gate(options_,
                 {.load = [&](bool b, std::size_t run) { return experiment_.load(b ? 1 : 0, run); },
                  .skip = [&](std::size_t run) { return skip(run, compare); },
                  .measured = [&](bool b) { return experiment_.measured(b ? 1 : 0); },
                  .time_left = [&] { return Clock::now() < ends; },
                  .tell = [](const GateLook& look) { say(0, known_so_far(look)); }});
    if (result.end != GateEnd::kInterrupted) {
      noise_.keep(experiment_.side(0).result(), experiment_.side(0).cells(),
                  experiment_.load_seconds(), now());
    }
    auto const verdict = verdict_json(result, compare);
    bool const kept = keep_file(flags_.output, "a.json", to_json(experiment_.side(0).result())) &&
                      keep_file(flags_.output, "b.json", to_json(experiment_.side(1).result())) &&
                      keep_file(flags_.output, "verdict.json", verdict);
    if (result.end == GateEnd::kInterrupted) {
      auto const loads = counted(experiment_.loads(), "load");
      if (Interruption::was_asked()) {
        return say(Interruption::exit_code(), "interrupted after " + loads);
      }
      return say(experiment_.exit_code(), "cannot load any more pages; stopped after " + loads);
    }
    bool const has_look = result.look.number > 0;
    if (flags_.compare.json) {
      std::printf("%s\n", boost::json::serialize(verdict).c_str());
    } else if (has_look) {
      tell_comparison(result.look.comparison, compare, flags_.compare);
    }
    if (result.end == GateEnd::kDisturbed) {
      return say(kExitUndecided, "undecided, since the machine disturbs the loads: " +
                                     reasons(result) + ". Wait until it is quieter");
    }
    if (!has_look) {
      return say(kExitUndecided,
                 "out of time before the first look: no verdict. Use a longer --budget");
    }
    say(0, std::string(why(result.end)) + " after " + counted(result.look.runs, "load") +
               " a side, seed " + std::to_string(options_.seed));
    return kept ? exit_code_of(result.look.comparison) : int{kExitFailed};
  }

 private:
  std::string skip(std::size_t run, const CompareOptions& compare) {
    auto why = experiment_.skip_disturbed(run, counted_loads(compare));
    if (!why.empty()) say(0, "run " + std::to_string(run) + " is repeated: " + why);
    return why;
  }

  /// "3 runs: other programs used N % of the processors; ..."
  static std::string reasons(const GateResult& result) {
    std::string text;
    for (auto const& [why, runs] : result.skipped) {
      text += (text.empty() ? "" : "; ") + counted(runs, "run") + ": " + why;
    }
    return text;
  }

  boost::json::object verdict_json(const GateResult& result, const CompareOptions& compare) const {
    auto object = comparison_json(result.look.comparison, compare);
    boost::json::object skipped;
    for (auto const& [reason, runs] : result.skipped) skipped[reason] = runs;
    object["gate"] = {{"end", why(result.end)},        {"runs", result.look.runs},
                      {"looks", result.look.number},   {"looks_at_most", result.look.of},
                      {"most_runs", flags_.most_runs}, {"seed", options_.seed},
                      {"skipped", std::move(skipped)}, {"noise", noise_.json()}};
    return object;
  }

  static std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  }

  /// Says what this machine can show, measuring it first where that is not known. An exit code if
  /// the page cannot be loaded.
  std::optional<int> check_noise() {
    const ExperimentSide& a = experiment_.side(0);
    if (!noise_.look_up(a.result(), a.cells(), now())) {
      say(0, "measuring the noise of this page on this machine: " +
                 counted(NoiseCheck::kLoads, "load") + " of A (--skip-noise-check: do not)");
      auto side = ExperimentSide::parse(flags_.sides.front());
      if (!side) return say(side.error().exit_code, "gate: side A: " + side.error().text);
      if (!noise_.measure(std::move(*side), now())) {
        if (Interruption::was_asked()) return say(Interruption::exit_code(), "interrupted");
        return say(noise_.exit_code(), "cannot load A");
      }
    }
    std::istringstream lines(noise_.text());
    for (std::string line; std::getline(lines, line);) say(0, line);
    return std::nullopt;
  }

  const GateFlags& flags_;
  GateOptions options_;
  Experiment experiment_;
  NoiseCheck noise_;
};

/// Measures one side, or reads what was measured, and says what a gate could see.
int run_noise_floor(const GateFlags& flags, const CompareOptions& compare, std::uint64_t seed) {
  Measurements loads;
  if (!flags.loads.empty()) {
    auto read = read_measurements(flags.loads);
    if (!read) {
      return say(kExitFailed,
                 flags.loads.string() + " is not a result of `reprise load -o`: " + read.error());
    }
    loads = std::move(*read);
  } else {
    auto side = ExperimentSide::parse(flags.sides.front());
    if (!side) return say(side.error().exit_code, "gate: " + side.error().text);
    side->result().seed = seed;
    std::size_t const count = flags.noise_loads > 0 ? flags.noise_loads : 2 * flags.most_runs;
    std::vector<ExperimentSide> sides;
    sides.push_back(std::move(*side));
    Experiment experiment(std::move(sides), count);
    bool done = true;
    for (std::size_t run = 0; run <= count && done; ++run) done = experiment.load(0, run);
    if (!keep_file(flags.output, "a.json", to_json(experiment.side(0).result()))) {
      return kExitFailed;
    }
    if (!done) return experiment.exit_code();
    loads = experiment.measured(0);
  }
  NoiseFloorOptions const options{
      .gate = {.compare = compare, .most_runs = flags.most_runs, .look_every = flags.look_every},
      .splits = flags.splits,
      .seed = seed};
  auto const floor = noise_floor(loads, options);
  if (!floor) return say(kExitFailed, floor.error());
  auto const json = noise_floor_json(*floor);
  if (!keep_file(flags.output, "noise.json", json)) return kExitFailed;
  auto const text =
      flags.compare.json ? boost::json::serialize(json) + "\n" : noise_floor_text(*floor);
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

int run_command(const GateFlags& flags) {
  auto compare = compare_options(flags.compare);
  if (!compare) return say(kExitUsage, "gate: " + compare.error());
  auto const budget =
      flags.budget.empty() ? std::chrono::hours(24 * 365) : parse_time(flags.budget);
  if (!budget) return say(kExitUsage, "gate: --budget must be a time such as 90s, 10m or 1h");
  std::size_t const sides_wanted = !flags.noise ? 2 : flags.loads.empty() ? 1 : 0;
  if (flags.sides.size() != sides_wanted) {
    return say(kExitUsage, "gate needs SIDE_A SIDE_B, --aa SIDE, or --aa --loads FILE");
  }
  if (!flags.output.empty()) {
    std::error_code error;
    fs::create_directories(flags.output, error);
    if (error) return say(kExitFailed, flags.output.string() + ": " + error.message());
  }
  auto const seed = flags.seed.value_or(std::random_device()());
  Interruption const interruption;
  if (flags.noise) return run_noise_floor(flags, *compare, seed);
  std::vector<ExperimentSide> sides;
  for (const std::string& text : flags.sides) {
    auto side = ExperimentSide::parse(text);
    if (!side) {
      return say(side.error().exit_code, std::string("gate: side ") + (sides.empty() ? "A" : "B") +
                                             ": " + side.error().text);
    }
    side->result().seed = seed;
    sides.push_back(std::move(*side));
  }
  compare->allowed.merge(stated_differences(sides[0], sides[1]));
  Experiment experiment(std::move(sides), flags.most_runs);
  return Gate(flags,
              {.compare = std::move(*compare),
               .most_runs = flags.most_runs,
               .look_every = flags.look_every,
               .seed = seed},
              std::move(experiment))
      .run(*budget);
}

}  // namespace

void add_gate_command(CLI::App& app, int& exit_code) {
  auto const flags = std::make_shared<GateFlags>();
  auto* const sub =
      app.add_subcommand("gate", "Load A and B in turn until it is known whether B is slower");
  sub->add_option("SIDE_A SIDE_B", flags->sides,
                  "Arguments of `load` for each side, quoted: 'page.reprise --link wpt:4g'");
  add_compare_flags(*sub, flags->compare);
  sub->add_option("--max-runs", flags->most_runs, "Load each side at most N times [30]")
      ->check(CLI::Range(4U, 10'000U));
  sub->add_option("--look-every", flags->look_every, "Compare after every N loads of each side [5]")
      ->check(CLI::Range(1U, 10'000U));
  sub->add_option("--budget", flags->budget, "Stop after this time: 90s, 10m, 1h [no limit]");
  sub->add_flag(
      "--skip-noise-check", flags->skip_noise_check,
      "Do not measure first what loads of A vary by, on a machine that has not loaded it");
  sub->add_option("--seed", flags->seed, "Seed for the order of A and B [random; printed]")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53));
  sub->add_option("-o,--output", flags->output,
                  "Write a.json, b.json and verdict.json (with --aa: noise.json) to this folder");
  sub->add_flag("--aa", flags->noise,
                "Load one side and report which effects a gate could see, and how often the side "
                "differs from itself");
  sub->add_option("--loads", flags->loads, "With --aa: read the loads from this result instead");
  sub->add_option("--aa-loads", flags->noise_loads,
                  "With --aa: load this many times [twice --max-runs]")
      ->check(CLI::Range(8U, 100'000U));
  sub->add_option("--splits", flags->splits, "With --aa: use this many random splits [2000]")
      ->check(CLI::Range(1U, 1'000'000U));
  sub->callback([flags, &exit_code] { exit_code = run_command(*flags); });
}

}  // namespace reprise
