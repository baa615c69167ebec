#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <memory>
#include <random>

#include "analysis/metric.h"
#include "base/system/private_file.h"
#include "base/text/command_words.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/experiment/change_side.h"
#include "tools/experiment/gate_run.h"
#include "tools/process/interruption.h"
#include "tools/why/why.h"
#include "tools/why/why_run.h"
#include "tools/why/why_text.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

struct WhyFlags {
  CompareFlags compare;
  std::size_t most_runs = 30;
  std::size_t most_loads = 240;
  std::string budget = "20m";
  std::optional<std::uint64_t> seed;
  fs::path output;
};

/// The words of both sides: all but the other's archive. The error is a sentence.
std::expected<std::pair<std::vector<std::string>, std::vector<std::string>>, std::string> sides_of(
    const std::vector<std::string>& words) {
  LoadOptions load;
  if (auto const wrong = parse_load_words(words, load)) return std::unexpected(*wrong);
  if (load.arguments.size() < 2) return std::unexpected("needs two archives: reprise why A B");
  auto const without = [&words](const std::string& archive) {
    auto left = words;
    left.erase(std::ranges::find(left, archive));
    return left;
  };
  return std::pair(without(load.arguments[1]), without(load.arguments[0]));
}

/// Differences of think times count, unless the user says otherwise.
void add_recorded_think_times(std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.starts_with("--think-time")) return;
  }
  words.insert(std::ranges::find(words, "--"), "--think-time=recorded");
}

int run_command(const WhyFlags& flags, const std::vector<std::string>& words) {
  auto compare = compare_options(flags.compare);
  if (!compare) return say(kExitUsage, "why: " + compare.error());
  if (compare->metrics.size() > 1) return say(kExitUsage, "why takes one --metric");
  if (compare->metrics.empty()) compare->metrics = *parse_metrics("load");
  auto const budget = parse_budget(flags.budget);
  if (!budget) return say(kExitUsage, "why: --budget must be a time such as 90s, 10m or 1h");
  auto sides = sides_of(words);
  if (!sides) return say(kExitUsage, "why: " + sides.error());
  if (!flags.output.empty()) {
    std::error_code error;
    fs::create_directories(flags.output, error);
    if (error) return say(kExitFailed, flags.output.string() + ": " + error.message());
  }
  auto& [words_a, words_b] = *sides;
  add_recorded_think_times(words_a);
  add_recorded_think_times(words_b);
  Interruption const interruption;
  WhyRun run({.compare = std::move(*compare),
              .words_a = std::move(words_a),
              .words_b = std::move(words_b),
              .most_loads = flags.most_loads,
              .budget = *budget,
              .seed = flags.seed.value_or(std::random_device()()),
              .folder = flags.output});
  if (auto const code = run.find_differences()) return *code;
  if (auto const code = run.compare_sides(flags.most_runs)) return *code;
  return explain_why(run, {.json = flags.compare.json, .markdown = flags.compare.markdown});
}

}  // namespace

int explain_why(WhyRun& run, const WhyOutput& output) {
  if (auto const code = run.find_causes()) return *code;
  auto const report = why_json(run);
  auto const& folder = run.options().folder;
  bool kept = run.kept() && keep_file(folder, "why.json", report) &&
              keep_file(folder, "loads.json", to_json(run.loads()));
  if (!folder.empty()) {
    auto const written = write_private_file(why_text(run, true), folder / "why.md");
    if (!written) say(0, (folder / "why.md").string() + ": " + written.error().message());
    kept = kept && written;
  }
  auto const text =
      output.json ? boost::json::serialize(report) + "\n" : why_text(run, output.markdown);
  std::fputs(text.c_str(), stdout);
  return kept ? kExitGate : kExitFailed;
}

bool alike_but_for_archives(const std::string& a, const std::string& b) {
  std::vector<std::string> rest;
  for (auto const* const text : {&a, &b}) {
    auto words = command_words(*text);
    LoadOptions load;
    if (!words || parse_load_words(*words, load)) return false;
    words->erase(std::ranges::find(*words, load.arguments.front()));
    std::string joined;
    for (const std::string& word : *words) joined += word + '\0';
    rest.push_back(std::move(joined));
  }
  return rest.front() == rest.back();
}

void add_why_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const flags = std::make_shared<WhyFlags>();
  auto* const sub = app.add_subcommand(
      "why", "Find out why one recording of a page is slower than another: reprise why A B [URL]");
  sub->footer(
      "One --metric is explained [load]. All other options are those of `reprise load`, for both "
      "sides.");
  sub->allow_extras();
  add_compare_flags(*sub, flags->compare);
  sub->add_option("--budget", flags->budget, "Stop after this time: 90s, 10m, 1h [20m]");
  sub->add_option("--max-runs", flags->most_runs,
                  "Load A and B at most N times each to find out whether B differs [30]")
      ->check(CLI::Range(4U, 10'000U));
  sub->add_option("--max-loads", flags->most_loads,
                  "Then load A, B and what is between them at most N times in all [240]")
      ->check(CLI::Range(12U, 100'000U));
  sub->add_option("--seed", flags->seed, "Seed for the order of the loads [random; printed]")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53));
  sub->add_option("-o,--output", flags->output,
                  "Write why.json, why.md, loads.json and verdict.json to this folder");
  sub->callback([flags, command, sub, &exit_code] {
    exit_code = run_command(*flags, load_words(*sub, command));
  });
}

}  // namespace reprise
