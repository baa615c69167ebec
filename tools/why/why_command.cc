#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>

#include "analysis/metric.h"
#include "base/system/json_file.h"
#include "base/system/private_file.h"
#include "base/text/command_words.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/experiment/change_side.h"
#include "tools/experiment/fresh_folder.h"
#include "tools/load/load_budget.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"
#include "tools/why/timeline_report.h"
#include "tools/why/timeline_sides.h"
#include "tools/why/why.h"
#include "tools/why/why_run.h"
#include "tools/why/why_text.h"
#include "view/why_page.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

struct WhyFlags {
  CompareFlags compare;
  std::size_t most_runs = 30;
  std::size_t most_loads = 240;
  std::string of_measurements;  ///< the first given option that only measurements have
  std::string budget = "20m";
  std::optional<std::uint64_t> seed;
  fs::path output;
  std::optional<double> from_ms;
  std::optional<double> to_ms;

  /// The output is a folder, or one page.
  bool only_page() const { return output.extension() == ".html"; }
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

/// Differences of think times and of looking up names count, unless the user says otherwise.
void add_recorded_times(std::vector<std::string>& words) {
  for (const std::string flag : {"--think-time", "--dns-time"}) {
    auto const given = [&](const std::string& word) { return word.starts_with(flag); };
    if (std::ranges::any_of(words, given)) continue;
    words.insert(std::ranges::find(words, "--"), flag + "=recorded");
  }
}

/// Whether no output replaces one of `inputs`, archives or results. Prints why not.
bool are_outputs_free(const WhyFlags& flags, const std::vector<fs::path>& inputs) {
  auto const in_folder = [&flags](const char* name) {
    return flags.only_page() || flags.output.empty() ? fs::path() : flags.output / name;
  };
  return are_different_files("A or B", inputs,
                             {{"-o", flags.only_page() ? flags.output : fs::path()},
                              {"-o", in_folder("why.html")},
                              {"-o", in_folder("why.md")},
                              {"-o", in_folder("why.json")},
                              {"-o", in_folder("loads.json")},
                              {"-o", in_folder("a.json")},
                              {"-o", in_folder("b.json")},
                              {"-o", in_folder("verdict.json")}});
}

/// Of two places in results (a.json#3): nothing is measured.
int compare_places(const WhyFlags& flags, const std::vector<std::string>& words,
                   const std::array<TimelinePlace, 2>& places) {
  auto const idle = words.size() > 2 ? words[2] : flags.of_measurements;
  if (!idle.empty()) {
    return say(kExitUsage,
               "why: nothing is measured between two loads of results; drop " + printable(idle));
  }
  if (places[0].request.has_value() != places[1].request.has_value()) {
    return say(kExitUsage,
               "why: compare two loads (FILE#LOAD) or two requests "
               "(FILE#LOAD:REQUEST)");
  }
  auto const from_us = std::llround(flags.from_ms.value_or(0) * 1000);
  auto const to_us = flags.to_ms ? std::llround(*flags.to_ms * 1000) : CallTree::kWindowUsMax;
  if (from_us >= to_us) return say(kExitUsage, "why: --from must be before --to");
  if (!flags.output.empty() && !flags.only_page()) {
    return say(kExitUsage, "why: two loads of results give one page: -o FILE.html");
  }
  if (!are_outputs_free(flags, {places[0].file, places[1].file})) return kExitUsage;
  auto a = TimelineSide::read(words[0], places[0]);
  if (!a) return say(kExitFailed, a.error());
  auto b = TimelineSide::read(words[1], places[1]);
  if (!b) return say(kExitFailed, b.error());
  auto const part_a = a->timeline.within(from_us, to_us);
  auto const part_b = b->timeline.within(from_us, to_us);
  TimelineReport const report{
      .a = *a,
      .b = *b,
      .found = a->request ? compare_requests(part_a, *a->request, part_b, *b->request)
                          : compare_timelines(part_a, part_b)};
  auto const json = timeline_json(report);
  if (flags.only_page()) {
    auto const written = write_private_file(why_page(json), flags.output);
    if (!written) {
      return say(kExitFailed, flags.output.string() + ": " + written.error().message());
    }
  }
  auto const text = flags.compare.json ? boost::json::serialize(json) + "\n"
                                       : timeline_text(report, flags.compare.markdown);
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

int run_command(const WhyFlags& flags, const std::vector<std::string>& words) {
  if (words.size() >= 2) {
    auto const a = TimelinePlace::parse(words[0]);
    auto const b = TimelinePlace::parse(words[1]);
    if (a && b) return compare_places(flags, words, {*a, *b});
    if (a || b) {
      return say(kExitUsage, "why: compare two archives, or two loads of results (FILE#LOAD)");
    }
  }
  if (flags.from_ms || flags.to_ms) {
    return say(kExitUsage, "why: --from and --to apply to loads of results (FILE#LOAD) alone");
  }
  auto compare = compare_options(flags.compare);
  if (!compare) return say(kExitUsage, "why: " + compare.error());
  if (compare->metrics.size() > 1) return say(kExitUsage, "why takes one --metric");
  if (compare->metrics.empty()) compare->metrics = *parse_metrics("load");
  auto const budget = parse_budget(flags.budget);
  if (!budget) return say(kExitUsage, "why: --budget must be a time such as 90s, 10m or 1h");
  auto sides = sides_of(words);
  if (!sides) return say(kExitUsage, "why: " + sides.error());
  if (!are_outputs_free(flags, {archive_of(sides->first), archive_of(sides->second)})) {
    return kExitUsage;
  }
  if (flags.only_page()) {
    if (auto const can = check_writable(flags.output); !can) {
      return say(kExitFailed, flags.output.string() + ": " + can.error().message());
    }
    if (!remove_stale_file(flags.output, "-o")) return kExitFailed;
  } else if (!make_fresh_folder(flags.output, {"why.html", "why.md", "why.json", "loads.json",
                                               "a.json", "b.json", "verdict.json"})) {
    return kExitFailed;
  }
  auto& [words_a, words_b] = *sides;
  add_recorded_times(words_a);
  add_recorded_times(words_b);
  Interruption const interruption;
  WhyRun run({.compare = std::move(*compare),
              .words_a = std::move(words_a),
              .words_b = std::move(words_b),
              .most_loads = flags.most_loads,
              .budget = *budget,
              .seed = flags.seed.value_or(std::random_device()()),
              .folder = flags.only_page() ? fs::path() : flags.output,
              .page = flags.only_page() ? flags.output : fs::path()});
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
  auto const keep_text = [&kept](const std::string& content, const fs::path& path) {
    auto const written = write_private_file(content, path);
    if (!written) say(0, path.string() + ": " + written.error().message());
    kept = kept && written;
  };
  if (!folder.empty()) {
    keep_text(why_text(run, true), folder / "why.md");
    keep_text(why_page(report), folder / "why.html");
  }
  if (auto const& page = run.options().page; !page.empty()) keep_text(why_page(report), page);
  auto const text =
      output.json ? boost::json::serialize(report) + "\n" : why_text(run, output.markdown);
  std::fputs(text.c_str(), stdout);
  if (!kept) return kExitFailed;
  return run.interrupted() ? Interruption::exit_code() : int{kExitGate};
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
  auto* const sub = add_command(
      app, "why",
      "Find out why one recording of a page is slower than another: reprise why A B [URL]; or one "
      "load of a result: reprise why a.json#3 b.json#17");
  sub->footer("All other options are those of `reprise load`, for both sides.");
  sub->allow_extras();
  add_compare_flags(*sub, flags->compare, ComparedMetrics::kOne);
  sub->add_option("--budget", flags->budget, "Stop after this time: 90s, 10m, 1h [20m]");
  sub->add_option("--max-runs", flags->most_runs,
                  "Load A and B at most N times each to find out whether B differs [30]")
      ->check(CLI::Range(4U, 10'000U));
  sub->add_option("--max-loads", flags->most_loads,
                  "Then load A, B and what is between them at most N times in all [240]")
      ->check(CLI::Range(12U, 100'000U));
  sub->add_option("--seed", flags->seed, "Seed for the order of the loads [random; printed]")
      ->check(seeds());
  sub->add_option("-o,--output", flags->output,
                  "Write an HTML page to this file (*.html), or why.html, why.md, why.json, "
                  "loads.json, a.json, b.json and verdict.json to this folder");
  sub->add_option("--from", flags->from_ms,
                  "Of two loads of results: begin so many ms after their start [0]")
      ->check(numbers_between(0.0, 86'400'000.0));
  sub->add_option("--to", flags->to_ms, "The same: end so many ms after their start [their end]")
      ->check(numbers_between(0.0, 86'400'000.0));
  sub->callback([flags, command, sub, &exit_code] {
    for (const char* const each : {"--metric", "--min-effect", "--alpha", "--allow", "--budget",
                                   "--max-runs", "--max-loads", "--seed"}) {
      if (flags->of_measurements.empty() && sub->count(each) > 0) flags->of_measurements = each;
    }
    exit_code = run_command(*flags, load_words(*sub, command));
  });
}

}  // namespace reprise
