#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <expected>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "analysis/gate.h"
#include "analysis/metric.h"
#include "base/system/json_file.h"
#include "base/text/command_words.h"
#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/experiment/experiment.h"
#include "tools/experiment/experiment_side.h"
#include "tools/experiment/fresh_folder.h"
#include "tools/experiment/gate_run.h"
#include "tools/gate/budget_file.h"
#include "tools/gate/noise_floor_run.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"
#include "tools/why/explained_metric.h"
#include "tools/why/why.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

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
  bool why = false;
  std::string why_budget = "10m";
  fs::path budget_file;
};

/// The archives and the budget file, which no output can replace.
std::vector<fs::path> inputs_of(const GateFlags& flags) {
  std::vector<fs::path> inputs{flags.budget_file, flags.loads};
  for (const std::string& side : flags.sides) {
    auto const words = command_words(side);
    LoadOptions load;
    if (!words || parse_load_words(*words, load) || load.arguments.empty()) continue;
    inputs.emplace_back(load.arguments.front());
  }
  return inputs;
}

/// The files that it writes to the folder of -o.
std::vector<std::string> outputs_of(const GateFlags& flags) {
  if (flags.noise) {
    return flags.loads.empty() ? std::vector<std::string>{"a.json", "noise.json"}
                               : std::vector<std::string>{"noise.json"};
  }
  std::vector<std::string> names{"a.json", "b.json", "verdict.json"};
  if (flags.why) names.insert(names.end(), {"why.json", "why.html", "why.md", "loads.json"});
  return names;
}

/// Whether no output replaces an input or another output. Prints why not.
bool are_outputs_free(const GateFlags& flags) {
  constexpr auto kInputs = "an archive, --loads or --budget-file";
  auto const inputs = inputs_of(flags);
  NamedFile const junit{"--junit", flags.compare.junit};
  if (!are_different_files(kInputs, inputs, {junit})) return false;
  if (flags.output.empty()) return true;
  return std::ranges::all_of(outputs_of(flags), [&](const std::string& name) {
    NamedFile const file{"-o", flags.output / name};
    return are_different_files(kInputs, inputs, {file}) && are_different_files({junit, file});
  });
}

/// Names the pages of a side that --budget-file has no budget for.
void tell_pages_without_budget(const GateFlags& flags, const std::vector<PageBudget>& budgets,
                               const ExperimentSide& side) {
  if (flags.budget_file.empty()) return;
  std::set<std::string> urls;
  for (const LoadCell& cell : side.cells()) urls.insert(cell.url);
  for (const std::string& url : urls) {
    if (has_budget(budgets, url)) continue;
    say(0, "no budget of " + flags.budget_file.string() + " is for " + printable(url));
  }
}

/// Prints the verdict, and how it was reached. `budgets`: of B.
int print_verdict(const GateFlags& flags, const GateRun& run, const GateResult& result,
                  const std::vector<BudgetFinding>& budgets) {
  const Comparison& comparison = result.look.comparison;
  auto verdict = run.verdict_json(result);
  bool kept = run.kept();
  if (!flags.budget_file.empty()) {
    verdict["budgets"] = budgets_json(budgets);
    kept = keep_file(flags.output, "verdict.json", verdict) && kept;
  }
  if (flags.compare.json) {
    std::printf("%s\n", boost::json::serialize(verdict).c_str());
  } else {
    if (result.has_comparison()) tell_comparison(comparison, run.options().compare, flags.compare);
    std::fputs(budgets_text(budgets, flags.compare.markdown).c_str(), stdout);
  }
  auto const ended = run.tell_end(result);
  if (!write_junit(comparison, run.options().compare, flags.compare, budgets)) return kExitFailed;
  auto const code = ended ? *ended : exit_code_of(comparison, flags.compare);
  if (!ended && !kept) return kExitFailed;
  bool const decided = code == kExitDone || code == kExitUndecided;
  return decided && any_over(budgets) ? int{kExitGate} : code;
}

/// The causes of a difference that was shown, for a gate that failed with `exit_code`. Both sides
/// are the same but for their archives (alike_but_for_archives()).
int tell_why(const GateFlags& flags, const GateRun& run, const GateResult& result,
             std::uint64_t seed, int exit_code) {
  auto compare = run.options().compare;
  const ComparedPage& page = result.look.comparison.pages.front();
  if (auto const failures = only_failures_text(page); !failures.empty()) {
    return say(exit_code, "--why: " + printable(failures));
  }
  auto const explained = metric_to_explain(page.metrics);
  if (explained == page.metrics.end()) return exit_code;
  if (page.metrics.size() > 1) {
    say(0, "what follows is about the " + std::string(kMetrics[explained->metric].title) +
               "; choose another one with --metric");
  }
  compare.metrics = {explained->metric};
  WhyRun why({.compare = std::move(compare),
              .words_a = *command_words(flags.sides[0]),
              .words_b = *command_words(flags.sides[1]),
              .median_a = explained->finding.median_a,
              .gate_shift = explained->finding.shift.estimate,
              .gate_loads = result.look.runs,
              .budget = *parse_budget(flags.why_budget),
              .budget_option = "--why-budget",
              .seed = seed,
              .folder = flags.output});
  if (why.find_differences()) return exit_code;
  for (std::size_t side = 0; side < 2; ++side) {
    why.allow_misses_of(run.experiment().side(side).result());
  }
  auto const code = explain_why(why, {.json = false, .markdown = flags.compare.markdown});
  // A difference whose causes are not found is one all the same.
  return Interruption::was_asked() ? code : exit_code;
}

/// Why the options cannot be used together.
std::optional<std::string> conflict_in(const GateFlags& flags) {
  std::size_t const sides_wanted = !flags.noise ? 2 : flags.loads.empty() ? 1 : 0;
  if (flags.sides.size() != sides_wanted) {
    return "gate needs SIDE_A SIDE_B, --aa SIDE, or --aa --loads FILE";
  }
  if (flags.why && (flags.noise || flags.compare.json)) {
    return "gate: --why cannot be used with --aa or --json";
  }
  if (flags.noise &&
      (!flags.budget.empty() || !flags.budget_file.empty() || !flags.compare.junit.empty())) {
    return "gate: --budget, --budget-file and --junit cannot be used with --aa";
  }
  if (flags.why && !parse_budget(flags.why_budget)) {
    return "gate: --why-budget must be a time such as 90s, 10m or 1h";
  }
  if (flags.why && !alike_but_for_archives(flags.sides[0], flags.sides[1])) {
    return "gate --why needs two sides that differ in their archives alone";
  }
  return std::nullopt;
}

/// What the options mean.
struct GatePlan {
  CompareOptions compare;
  std::chrono::seconds budget;
  std::vector<PageBudget> page_budgets;
};

/// Checks the options, and prepares the folder and the file of the results. The error is an exit
/// code, whose message was printed.
std::expected<GatePlan, int> plan_of(const GateFlags& flags) {
  auto compare = compare_options(flags.compare);
  if (!compare) return std::unexpected(say(kExitUsage, "gate: " + compare.error()));
  auto const budget =
      flags.budget.empty() ? std::chrono::hours(24 * 365) : parse_budget(flags.budget);
  if (!budget) {
    return std::unexpected(say(kExitUsage, "gate: --budget must be a time such as 90s, 10m or 1h"));
  }
  if (auto const conflict = conflict_in(flags)) return std::unexpected(say(kExitUsage, *conflict));
  std::expected<std::vector<PageBudget>, std::string> page_budgets;
  if (!flags.budget_file.empty()) page_budgets = read_budget_file(flags.budget_file);
  if (!page_budgets) return std::unexpected(say(kExitUsage, "gate: " + page_budgets.error()));
  if (!are_outputs_free(flags)) return std::unexpected(int{kExitUsage});
  if (!can_be_written(flags.compare.junit, "--junit") ||
      !remove_stale_file(flags.compare.junit, "--junit") ||
      !make_fresh_folder(flags.output, outputs_of(flags))) {
    return std::unexpected(int{kExitFailed});
  }
  return GatePlan{
      .compare = std::move(*compare), .budget = *budget, .page_budgets = std::move(*page_budgets)};
}

/// A and B. The error is an exit code, whose message was printed.
std::expected<std::vector<ExperimentSide>, int> read_sides(const GateFlags& flags,
                                                           std::uint64_t seed) {
  std::vector<ExperimentSide> sides;
  for (const std::string& text : flags.sides) {
    auto side = ExperimentSide::parse(text);
    if (!side) {
      return std::unexpected(
          say(side.error().exit_code,
              std::string("gate: side ") + (sides.empty() ? "A" : "B") + ": " + side.error().text));
    }
    side->result().seed = seed;
    if (flags.why && side->cells().size() != 1) return std::unexpected(say(kExitUsage, kOneCell));
    sides.push_back(std::move(*side));
  }
  return sides;
}

/// Makes the gate's loads and prints the verdict. Returns the exit code; without a verdict it is
/// the error.
std::expected<int, int> find_verdict(const GateFlags& flags, GatePlan& plan, std::uint64_t seed) {
  auto sides = read_sides(flags, seed);
  if (!sides) return std::unexpected(sides.error());
  plan.compare.allowed.merge(stated_differences(sides->front(), sides->back()));
  for (const ExperimentSide& side : *sides) {
    std::fputs(what_if_text(side.effects()).c_str(), stderr);
  }
  tell_pages_without_budget(flags, plan.page_budgets, sides->back());
  bool const only_slower = flags.compare.fail_on == "slower";
  GateRun run({.compare = std::move(plan.compare),
               .question = only_slower ? GateQuestion::kSlower : GateQuestion::kDifferent,
               .most_runs = flags.most_runs,
               .look_every = flags.look_every,
               .seed = seed},
              Experiment(std::move(*sides), flags.most_runs));
  GateRun::AgainA const again = [&]() -> std::expected<ExperimentSide, int> {
    auto side = ExperimentSide::parse(flags.sides.front());
    if (side) return std::move(*side);
    return std::unexpected(say(side.error().exit_code, "gate: side A: " + side.error().text));
  };
  auto const result =
      run.run(plan.budget, flags.output, flags.skip_noise_check ? GateRun::AgainA() : again);
  if (!result) return std::unexpected(result.error());
  auto const findings = check_budgets(plan.page_budgets, run.experiment().side(1).result());
  auto const code = print_verdict(flags, run, *result, findings);
  bool const differs = result->look.comparison.verdict == Verdict::kDifferent;
  return flags.why && differs && code == kExitGate ? tell_why(flags, run, *result, seed, code)
                                                   : code;
}

int run_command(const GateFlags& flags) {
  auto plan = plan_of(flags);
  if (!plan) return plan.error();
  auto const seed = flags.seed.value_or(std::random_device()());
  Interruption const interruption;
  if (flags.noise) {
    std::size_t const usual = 2 * flags.most_runs;
    return run_noise_floor({.side = flags.loads.empty() ? flags.sides.front() : std::string(),
                            .loads = flags.loads,
                            .count = flags.noise_loads > 0 ? flags.noise_loads : usual,
                            .output = flags.output,
                            .json = flags.compare.json,
                            .options = {.gate = {.compare = plan->compare,
                                                 .most_runs = flags.most_runs,
                                                 .look_every = flags.look_every},
                                        .splits = flags.splits,
                                        .seed = seed}});
  }
  auto const code = find_verdict(flags, *plan, seed);
  if (code) return *code;
  write_junit_error("there is no verdict: the gate ended with exit status " +
                        std::to_string(code.error()) + "; its messages say why",
                    flags.compare);
  return code.error();
}

}  // namespace

void add_gate_command(CLI::App& app, int& exit_code) {
  auto const flags = std::make_shared<GateFlags>();
  auto* const sub =
      add_command(app, "gate", "Load A and B in turn until it is known whether B is slower");
  sub->add_option("SIDE_A SIDE_B", flags->sides,
                  "Arguments of `load` for each side, quoted: 'page.reprise --link wpt:4g'");
  add_compare_flags(*sub, flags->compare);
  add_verdict_flags(*sub, flags->compare);
  sub->add_option(
      "--budget-file", flags->budget_file,
      "Check the loads of B against this budget.json of Lighthouse: sizes, counts, times");
  sub->add_option("--max-runs", flags->most_runs, "Load each side at most N times [30]")
      ->check(CLI::Range(4U, 10'000U));
  sub->add_option("--look-every", flags->look_every, "Compare after every N loads of each side [5]")
      ->check(CLI::Range(1U, 10'000U));
  sub->add_option("--budget", flags->budget, "Stop after this time: 90s, 10m, 1h [no limit]");
  sub->add_flag("--skip-noise-check", flags->skip_noise_check,
                "Skip the eight loads of A that measure its noise, once for each page and machine");
  sub->add_option("--seed", flags->seed, "Seed for the order of A and B [random; printed]")
      ->check(seeds());
  sub->add_option(
      "-o,--output", flags->output,
      "Write a.json, b.json and verdict.json (with --aa: a.json and noise.json) to this folder");
  auto* const noise = sub->add_flag(
      "--aa", flags->noise,
      "Load one side and report which effects a gate could see, and how often the side "
      "differs from itself");
  sub->add_option("--loads", flags->loads, "With --aa: read the loads from this result instead")
      ->needs(noise);
  sub->add_option("--aa-loads", flags->noise_loads,
                  "With --aa: load this many times [twice --max-runs]")
      ->check(CLI::Range(8U, 100'000U))
      ->needs(noise);
  sub->add_option("--splits", flags->splits, "With --aa: use this many random splits [2000]")
      ->check(CLI::Range(1U, 1'000'000U))
      ->needs(noise);
  sub->add_flag("--why", flags->why,
                "If a metric of B is different, find out why, as `reprise why` does, and print the "
                "causes");
  sub->add_option("--why-budget", flags->why_budget, "Stop that after this time [10m]");
  sub->callback([flags, &exit_code] { exit_code = run_command(*flags); });
}

}  // namespace reprise
