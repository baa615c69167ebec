#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <string_view>

#include "base/system/private_file.h"
#include "base/system/private_folder.h"
#include "base/system/program.h"
#include "pageload/results/result_file.h"
#include "tools/advise/advice_pictures.h"
#include "tools/advise/advice_text.h"
#include "tools/advise/advise_run.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/experiment/change_side.h"
#include "tools/experiment/fresh_folder.h"
#include "tools/load/load_budget.h"
#include "tools/predict/learnt_page.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"
#include "view/inputs.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

struct AdviseFlags {
  CompareFlags compare;
  std::size_t candidates = 6;
  std::size_t most_runs = 100;
  std::string budget = "10m";
  std::optional<std::uint64_t> seed;
  fs::path output;
  bool no_pictures = false;
};

json::object candidate_json(const ChangeCandidate& candidate) {
  return {{"kind", candidate.kind},
          {"what_if", as_utf8(candidate.what_if)},
          {"advice", as_utf8(candidate.advice)},
          {"observed_share_ms", candidate.share_ms}};
}

json::object predicted_json(const PredictedQuantile& predicted) {
  auto const known = [&predicted](double value) {
    return predicted.interval_reaches_level ? json::value(value) : json::value();
  };
  return {{"saving_ms", predicted.saving_us / 1000},
          {"low_ms", known(predicted.saving_low_us / 1000)},
          {"high_ms", known(predicted.saving_high_us / 1000)},
          {"level", known(kPredictedLevel)}};
}

json::array strings_json(const std::vector<std::string>& strings) {
  json::array out;
  for (const std::string& each : strings) out.emplace_back(as_utf8(each));
  return out;
}

json::object change_json(const MeasuredChange& change) {
  json::array candidates;
  for (const ChangeCandidate& each : change.candidates) candidates.push_back(candidate_json(each));
  json::object out{{"changes", std::move(candidates)}, {"verdict", change.verdict()}};
  auto remarks = strings_json(change.comparison.remarks);
  if (!remarks.empty()) out["remarks"] = std::move(remarks);
  if (auto const& refusals = change.comparison.refusals; !refusals.empty()) {
    out["not_compared"] = as_utf8(refusals.front().text);
  }
  if (!change.losses.empty()) {
    out["losses"] = {{"requests", strings_json(change.losses.requests)},
                     {"errors", strings_json(change.losses.errors)}};
  }
  if (change.predicted) {
    out["predicted"] = predicted_json(*change.predicted);
  } else {
    out["not_predicted"] = as_utf8(change.not_predicted);
  }
  if (auto const* const saving = change.saving()) {
    auto const& finding = saving->finding;
    out["metric"] = kMetrics[saving->metric].name;
    out["loads"] = {{"as_recorded", finding.of_a}, {"changed", finding.of_b}};
    out["median"] = {{"as_recorded", finding.median_a}, {"changed", finding.median_b}};
    auto const known = [&finding](double value) -> json::value {
      return finding.is_compared() && std::isfinite(value) ? json::value(value) : json::value();
    };
    out["shift"] = {{"estimate", known(finding.shift.estimate)},
                    {"low", known(finding.shift.low)},
                    {"high", known(finding.shift.high)},
                    {"level", known(change.level)}};
  }
  return out;
}

json::object lost_json(const LostLoads& lost) {
  auto const of = [](const LostLoads::Why& why) -> json::object {
    json::object out{{"loads", why.loads}};
    if (why.loads > 0) out["first"] = as_utf8(why.first);
    return out;
  };
  return {{"made", lost.made},
          {"lost", lost.lost()},
          {"disturbed", of(lost.disturbed)},
          {"failed", of(lost.failed)}};
}

json::object advice_json(const Advice& advice, std::uint64_t seed) {
  json::array changes;
  for (const MeasuredChange& change : advice.changes) changes.push_back(change_json(change));
  json::object out{{"schema", "reprise-advice/1"},
                   {"seed", seed},
                   {"alpha", advice.alpha},
                   {"changes", std::move(changes)}};
  if (advice.together) out["together"] = change_json(*advice.together);
  json::array left_out;
  for (const LeftOut& each : advice.left_out) {
    auto left = candidate_json(each.candidate);
    left["why"] = as_utf8(each.why);
    left_out.push_back(std::move(left));
  }
  out["left_out"] = std::move(left_out);
  json::array not_tried;
  for (const UntriedChange& each : advice.not_tried) {
    auto untried = candidate_json(each.candidate);
    if (each.predicted) untried["predicted"] = predicted_json(*each.predicted);
    untried["why"] = as_utf8(each.why);
    not_tried.push_back(std::move(untried));
  }
  out["not_tried"] = std::move(not_tried);
  if (advice.lost.lost() > 0) out["lost_loads"] = lost_json(advice.lost);
  return out;
}

/// Prints why it could not; false then.
bool write_file(std::string_view content, const fs::path& path) {
  auto const written = write_private_file(content, path);
  if (!written) say(0, path.string() + ": " + written.error().message());
  return written.has_value();
}

/// Short enough for its charts: "change 2" of "2. Load ... with async".
std::string name_in_view(const SeenSide& side) {
  auto const number = side.title.substr(0, side.title.find_first_not_of("0123456789"));
  if (!number.empty()) return "change " + number;
  return side.side == 0 ? "as recorded" : "combination";
}

/// view.html: the traced loads with their frames, then the measured ones as recorded and with what
/// helps most. Prints why it could not be written; false then.
bool keep_view(const fs::path& folder, const AdviseRun& run) {
  auto const& seen = run.pictures().seen;
  std::vector<NamedResult> shown;
  for (const SeenSide& each : seen) shown.push_back({each.result, name_in_view(each) + ", traced"});
  shown.push_back({run.experiment().side(0).result(), "as recorded"});
  if (auto const* const best = run.advice().best()) {
    auto const found = std::ranges::find(seen, best->side, &SeenSide::side);
    shown.push_back({run.experiment().side(best->side).result(),
                     found == seen.end() ? best->title() : name_in_view(*found)});
  }
  auto const visuals_of = [&seen](const PageLoad& page) -> std::optional<TraceVisuals> {
    auto const found = std::ranges::find(
        seen, page.trace, [](const SeenSide& each) { return each.result.loads.back().page.trace; });
    return found == seen.end() ? std::nullopt : std::optional(found->visuals);
  };
  auto const page = results_page(shown, &run.page().graph, visuals_of);
  auto const path = folder / "view.html";
  if (page) return write_file(*page, path);
  say(0, path.string() + ": " + page.error().message());
  return false;
}

/// Those of each change, beside the page as recorded.
std::vector<ChangePictures> pictures_of(const AdvicePictures& pictures) {
  std::vector<ChangePictures> changes;
  auto const& seen = pictures.seen;
  if (seen.empty() || seen.front().side != 0) return changes;
  for (const SeenSide& each : std::span(seen).subspan(1)) {
    changes.push_back({each, picture_pairs(seen.front().visuals, each.visuals)});
  }
  return changes;
}

bool keep_pictures(const fs::path& folder, std::span<const ChangePictures> changes) {
  bool kept = true;
  auto const keep = [&](const std::string& jpeg, const std::string& name) {
    if (!jpeg.empty()) kept = write_file(jpeg, folder / name) && kept;
  };
  for (auto const& [changed, pairs] : changes) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      keep(pairs[i].recorded, recorded_picture_name(changed.side, i + 1));
      keep(pairs[i].changed, changed_picture_name(changed.side, i + 1));
    }
  }
  return kept;
}

/// All files of files_of().
bool keep(const fs::path& folder, const AdviseRun& run, std::uint64_t seed) {
  if (folder.empty()) return true;
  Advice const& advice = run.advice();
  bool kept = keep_file(folder, "advice.json", advice_json(advice, seed));
  kept = keep_dependencies(folder, run.page().graph) && kept;
  for (std::size_t side = 0; side < run.experiment().sides(); ++side) {
    auto const name = "loads-" + std::to_string(side) + ".json";
    kept = keep_file(folder, name.c_str(), to_json(run.experiment().side(side).result())) && kept;
  }
  bool const has_view = keep_view(folder, run);
  auto const changes = pictures_of(run.pictures());
  kept = keep_pictures(folder, changes) && has_view && kept;
  return write_file("# " + run.experiment().side(0).cells().front().url + "\n\n" +
                        advice_text(advice, true) +
                        pictures_markdown(changes, run.pictures(), has_view),
                    folder / "advice.md") &&
         kept;
}

std::vector<std::string> files_of() {
  std::vector<std::string> names{"advice.json", "advice.md", "dependency.json", "view.html"};
  // The page as recorded, each change, and each combination; also those of a run with more.
  for (std::size_t side = 0; side <= 2 * AdviseRun::kCandidatesMax; ++side) {
    names.push_back("loads-" + std::to_string(side) + ".json");
    for (std::size_t pair = 1; pair <= kPicturePairsMax; ++pair) {
      names.push_back(recorded_picture_name(side, pair));
      names.push_back(changed_picture_name(side, pair));
    }
  }
  return names;
}

int run_command(const AdviseFlags& flags, const std::vector<std::string>& words) {
  auto compare = compare_options(flags.compare);
  if (!compare) return say(kExitUsage, "advise: " + compare.error());
  if (compare->metrics.size() > 1) return say(kExitUsage, "advise takes one --metric");
  if (compare->metrics.empty()) compare->metrics = {0};
  auto const budget = parse_budget(flags.budget);
  if (!budget) return say(kExitUsage, "advise: --budget must be a time such as 90s, 10m or 1h");
  if (!is_archive_kept(words, flags.output, files_of())) return kExitUsage;
  if (!make_fresh_folder(flags.output, files_of())) return kExitFailed;
  auto const seed = flags.seed.value_or(std::random_device()());
  Interruption const interruption;  // a signal leaves no folder behind
  auto const traces = PrivateFolder::make("reprise-advise-");
  if (!traces) return say(kExitFailed, "cannot create a folder: " + traces.error().message());
  AdviseRun run({.compare = std::move(*compare),
                 .candidates = flags.candidates,
                 .most_runs = flags.most_runs,
                 .images = find_program("vips").has_value(),
                 .keeps_loads = !flags.output.empty(),
                 .takes_pictures = !flags.output.empty() && !flags.no_pictures,
                 .budget = *budget,
                 .seed = seed,
                 .words = words,
                 .traces = traces->path()});
  auto const stopped = run.run();
  auto const& advice = run.advice();
  if (stopped && advice.changes.empty()) return *stopped;
  bool const is_nothing = advice.changes.empty() && advice.not_tried.empty();
  if (is_nothing) {
    say(0,
        "nothing to try: no request of the page is of a kind that a known change could make "
        "faster");
    if (auto const lost = lost_text(advice.lost); !lost.empty()) say(0, lost);
  }
  if (flags.compare.json) {
    std::printf("%s\n", json::serialize(advice_json(advice, seed)).c_str());
  } else if (!is_nothing) {
    std::fputs(advice_text(advice, flags.compare.markdown).c_str(), stdout);
  }
  auto const code = keep(flags.output, run, seed) ? kExitDone : kExitFailed;
  return stopped.value_or(code);
}

}  // namespace

void add_advise_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const flags = std::make_shared<AdviseFlags>();
  auto* const sub = add_command(
      app, "advise",
      "Find changes that make a page faster, each measured: reprise advise ARCHIVE [URL]");
  sub->footer("All other options are those of `reprise load`.");
  sub->allow_extras();
  add_compare_flags(*sub, flags->compare, ComparedMetrics::kOne);
  sub->add_option("--candidates", flags->candidates, "Try at most N changes")
      ->check(CLI::Range(std::size_t{1}, AdviseRun::kCandidatesMax))
      ->capture_default_str();
  sub->add_option("--max-runs", flags->most_runs, "Load each side at most N times")
      ->check(CLI::Range(AdviseRun::kPilot, std::size_t{10'000}))
      ->capture_default_str();
  sub->add_option("--budget", flags->budget, "Stop measuring after this time: 90s, 10m, 1h")
      ->capture_default_str();
  sub->add_option("--seed", flags->seed, "Seed for the order of the loads [random; in the JSON]")
      ->check(seeds());
  sub->add_option("-o,--output", flags->output,
                  "Write advice.json, advice.md, dependency.json, view.html, the loads, and "
                  "pictures before and after each change with advice to this folder");
  sub->add_flag("--no-pictures", flags->no_pictures,
                "Make no pictures: they take one more load of each side, after --budget");
  sub->callback([flags, command, sub, &exit_code] {
    exit_code = run_command(*flags, load_words(*sub, command));
  });
}

}  // namespace reprise
