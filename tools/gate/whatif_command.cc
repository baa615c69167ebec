#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <memory>
#include <random>

#include "analysis/request_changes.h"
#include "archive/match/steady_request.h"
#include "base/system/private_file.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/compare/comparison_text.h"
#include "tools/experiment/change_side.h"
#include "tools/experiment/fresh_folder.h"
#include "tools/experiment/gate_run.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"
#include "view/inputs.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// How many requests of a kind people are told; a report has all.
constexpr std::size_t kToldMax = 10;

struct WhatIfFlags {
  std::vector<std::string> what_ifs;
  CompareFlags compare;
  std::size_t most_runs = 30;
  std::size_t look_every = 5;
  std::string budget;
  std::optional<std::uint64_t> seed;
  fs::path output;
  bool skip_noise_check = false;
};

void tell_list(const char* what, const std::vector<std::string>& urls) {
  if (urls.empty()) return;
  std::printf("%s: %zu\n", what, urls.size());
  for (std::size_t i = 0; i < urls.size() && i < kToldMax; ++i) {
    std::printf("  %s\n", printable(urls[i]).c_str());
  }
}

void print_comparison(const Comparison& comparison) {
  for (const ComparedPage& page : comparison.pages) {
    std::printf("%s\n", printable(page.a.url).c_str());
    for (const ComparedMetric& each : page.metrics) {
      std::printf("  %s\n", metric_summary(each).c_str());
    }
  }
  for (const std::string& each : comparison.remarks) {
    std::printf("note: %s\n", printable(each).c_str());
  }
  if (comparison.verdict != Verdict::kUndecided) return;
  auto const too_few = too_few_text(comparison);
  if (!too_few.empty()) std::printf("%s\n", too_few.c_str());
}

void print_request_changes(const RequestChanges& requests) {
  tell_list("requests that came", requests.came);
  tell_list("  of them, not in the archive", requests.missed);
  tell_list("requests that went", requests.went);
  if (!requests.moved.empty()) std::printf("requests that moved: %zu\n", requests.moved.size());
  for (std::size_t i = 0; i < requests.moved.size() && i < kToldMax; ++i) {
    const MovedRequest& each = requests.moved[i];
    std::printf("  %s: start %.0f, end %.0f instead of %.0f, %.0f ms\n",
                printable(each.url).c_str(), each.b.start_ms, each.b.end_ms, each.a.start_ms,
                each.a.end_ms);
  }
  auto const remark = volatile_remark(requests.volatile_names);
  if (!remark.empty()) std::printf("note: %s\n", printable(remark).c_str());
}

json::array urls_json(const std::vector<std::string>& urls) {
  json::array all;
  for (const std::string& url : urls) all.emplace_back(as_utf8(url));
  return all;
}

json::object requests_json(const RequestChanges& requests) {
  json::array moved;
  for (const MovedRequest& each : requests.moved) {
    moved.push_back({{"url", as_utf8(each.url)},
                     {"a", {{"start_ms", each.a.start_ms}, {"end_ms", each.a.end_ms}}},
                     {"b", {{"start_ms", each.b.start_ms}, {"end_ms", each.b.end_ms}}}});
  }
  json::array remarks;
  auto const remark = volatile_remark(requests.volatile_names);
  if (!remark.empty()) remarks.emplace_back(as_utf8(remark));
  return {{"came", urls_json(requests.came)},
          {"missed", urls_json(requests.missed)},
          {"went", urls_json(requests.went)},
          {"moved", std::move(moved)},
          {"remarks", std::move(remarks)}};
}

/// The page of `reprise view` with the loads of both sides.
bool keep_view(const fs::path& folder, const Experiment& experiment) {
  if (folder.empty()) return true;
  auto const path = folder / "view.html";
  auto const page = results_page(std::array{NamedResult{experiment.side(0).result(), "as recorded"},
                                            NamedResult{experiment.side(1).result(), "what if"}});
  auto const written = page ? write_private_file(*page, path) : fail(page.error());
  if (!written) say(0, path.string() + " cannot be written: " + written.error().message());
  return written.has_value();
}

/// The verdict, what the requests did, and both waterfalls. Returns the exit code.
int tell_all(const WhatIfFlags& flags, const GateRun& run, const GateResult& result) {
  auto const requests =
      request_changes(run.experiment().side(0).result(), run.experiment().side(1).result());
  auto report = run.verdict_json(result);
  report["what_ifs"] = what_if_json(run.experiment().side(1).effects());
  report["requests"] = requests_json(requests);
  bool const kept = run.kept() && keep_file(flags.output, "whatif.json", report) &&
                    keep_view(flags.output, run.experiment());
  if (flags.compare.json) {
    std::printf("%s\n", json::serialize(report).c_str());
  } else if (!result.look.comparison.refusals.empty()) {
    tell_comparison(result.look.comparison, run.options().compare, flags.compare);
  } else if (result.look.number > 0 && flags.compare.markdown) {
    tell_comparison(result.look.comparison, run.options().compare, flags.compare);
    std::puts("\n```");
    print_request_changes(requests);
    std::puts("```");
  } else if (result.look.number > 0) {
    print_comparison(result.look.comparison);
    print_request_changes(requests);
  }
  if (auto const code = run.tell_end(result)) return *code;
  if (!kept || !result.look.comparison.refusals.empty()) return kExitFailed;
  return result.look.comparison.verdict == Verdict::kUndecided ? kExitUndecided : kExitDone;
}

int run_command(const WhatIfFlags& flags, const std::vector<std::string>& words) {
  auto compare = compare_options(flags.compare);
  if (!compare) return say(kExitUsage, "whatif: " + compare.error());
  auto const budget =
      flags.budget.empty() ? std::chrono::hours(24 * 365) : parse_budget(flags.budget);
  if (!budget) return say(kExitUsage, "whatif: --budget must be a time such as 90s, 10m or 1h");
  std::vector<std::string> const files{"a.json", "b.json", "verdict.json", "whatif.json",
                                       "view.html"};
  if (!is_archive_kept(words, flags.output, files)) return kExitUsage;
  if (!make_fresh_folder(flags.output, files)) return kExitFailed;
  auto const seed = flags.seed.value_or(std::random_device()());
  Interruption const interruption;
  auto change = side_with(words, flags.what_ifs, seed, "whatif");
  if (!change) return change.error();
  auto base = side_with(words, {}, seed, "whatif");
  if (!base) return base.error();
  std::fputs(what_if_text(change->effects()).c_str(), stderr);
  compare->allowed.merge(stated_differences(*base, *change));
  std::vector<ExperimentSide> sides;
  sides.push_back(std::move(*base));
  sides.push_back(std::move(*change));
  GateRun run({.compare = std::move(*compare),
               .most_runs = flags.most_runs,
               .look_every = flags.look_every,
               .seed = seed},
              Experiment(std::move(sides), flags.most_runs));
  GateRun::AgainA const again = [&] { return side_with(words, {}, seed, "whatif"); };
  auto const result =
      run.run(*budget, flags.output, flags.skip_noise_check ? GateRun::AgainA() : again);
  return result ? tell_all(flags, run, *result) : result.error();
}

}  // namespace

void add_whatif_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const flags = std::make_shared<WhatIfFlags>();
  auto* const sub = add_command(app, "whatif",
                                "Measure what a change would save: reprise whatif ARCHIVE "
                                "[URL...] --what-if 'FILTER: ACTION'");
  sub->footer("All other options are those of `reprise load`, for both sides.");
  sub->allow_extras();
  sub->add_option("--what-if", flags->what_ifs,
                  "The change, such as 'type=script: defer'; @FILE reads lines; several are made "
                  "together")
      ->required()
      ->allow_extra_args(false)
      ->type_name("'FILTER: ACTION'");
  add_compare_flags(*sub, flags->compare);
  sub->add_option("--max-runs", flags->most_runs, "Load each side at most N times [30]")
      ->check(CLI::Range(4U, 10'000U));
  sub->add_option("--look-every", flags->look_every, "Compare after every N loads of each side [5]")
      ->check(CLI::Range(1U, 10'000U));
  sub->add_option("--budget", flags->budget, "Stop after this time: 90s, 10m, 1h [no limit]");
  sub->add_flag("--skip-noise-check", flags->skip_noise_check,
                "Skip the eight loads that measure the noise, once for each page and machine");
  sub->add_option("--seed", flags->seed, "Seed for the order of the loads [random; printed]")
      ->check(seeds());
  sub->add_option("-o,--output", flags->output,
                  "Write a.json, b.json, verdict.json, whatif.json and view.html to this folder");
  sub->callback([flags, command, sub, &exit_code] {
    exit_code = run_command(*flags, load_words(*sub, command));
  });
}

}  // namespace reprise
