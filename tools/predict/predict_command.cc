#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <memory>
#include <random>
#include <set>

#include "analysis/repeats.h"
#include "base/system/private_folder.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "pageload/browser/launch.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/experiment/change_side.h"
#include "tools/experiment/experiment.h"
#include "tools/load/load_budget.h"
#include "tools/predict/asked_quantiles.h"
#include "tools/predict/kept_loads.h"
#include "tools/predict/learnt_page.h"
#include "tools/predict/load_remarks.h"
#include "tools/predict/perturbed_page.h"
#include "tools/predict/predicted_change.h"
#include "tools/predict/prediction_report.h"
#include "tools/predict/processor_slowdown.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::size_t kBase = 0;
constexpr std::size_t kChanged = 1;
/// Their loads, in the folder of `-o`.
constexpr const char* kBaseFile = "a.json";
constexpr const char* kChangedFile = "b.json";
/// Fewer loads say nothing of how they vary. A 95 % interval needs more: rows_for_interval().
constexpr std::size_t kLoadsMin = 4;

struct PredictFlags {
  std::vector<std::string> what_ifs;
  std::vector<std::string> quantiles;        ///< empty: kPredictedQuantiles
  std::string link, protocol, cpu_throttle;  ///< of the changed page; empty: as it is
  std::size_t runs = 8;
  bool measure = false;
  bool json = false;
  std::optional<std::uint64_t> seed;
  fs::path output;
  fs::path loads;       ///< an earlier `output`; empty: the page is loaded
  std::string perturb;  ///< a time; empty: the graph is not tested

  bool changes_anything() const {
    return !what_ifs.empty() || !link.empty() || !protocol.empty() || !cpu_throttle.empty();
  }
};

/// `words` of load with another value of an option.
std::vector<std::string> with_option(std::vector<std::string> words, const std::string& option,
                                     const std::string& value) {
  if (value.empty()) return words;
  auto const flags = std::ranges::find(words, "--");
  std::vector<std::string> out;
  for (auto word = words.begin(); word != flags; ++word) {
    if (word->starts_with(option + "=")) continue;
    if (*word != option) {
      out.push_back(*word);
    } else if (std::next(word) != flags) {
      ++word;
    }
  }
  out.push_back(option + "=" + value);
  out.insert(out.end(), flags, words.end());
  return out;
}

class PredictRun {
 public:
  PredictRun(const PredictFlags& flags, std::vector<double> quantiles,
             std::vector<std::string> words, fs::path traces)
      : flags_(flags),
        quantiles_(std::move(quantiles)),
        words_(traced(std::move(words), traces)),
        seed_(flags.seed.value_or(std::random_device()())) {}

  int run() {
    if (auto const code = make_sides()) return *code;
    if (flags_.loads.empty()) forget_earlier();
    if (auto const code = flags_.loads.empty() ? load() : take_loads()) return *code;
    page_ = learn_page(experiment_->side(kBase).result());
    if (!flags_.loads.empty()) {
      auto kept = kept_dependencies(flags_.loads, page_.graph.page);
      if (!kept) return say(kExitFailed, kept.error());
      if (*kept) page_.graph = std::move(**kept);
    } else if (flags_.perturb.empty()) {
      tested_ = use_kept_tests(experiment_->side(kBase), page_);
    }
    // Before anything can be refused: they can be predicted from again.
    if (!keep_loads()) return kExitFailed;
    if (page_.loads.size() < kLoadsMin) {
      return say(kExitFailed, "predict needs at least " + std::to_string(kLoadsMin) +
                                  " loads and has " + loads_text());
    }
    if (auto const code = test_graph()) return *code;
    slowdown_ = processor_slowdown(experiment_->side(kBase), *changed(), words_, flags_.loads);
    if (Interruption::was_asked()) return say(Interruption::exit_code(), "interrupted");
    auto predicted = predict_side(experiment_->side(kBase), *changed(), page_, seed_, quantiles_,
                                  slowdown_.factor);
    if (!predicted) return say(kExitUsage, predicted.error() + loads_kept_text());
    if (!slowdown_.remark.empty()) predicted->remarks.push_back(slowdown_.remark);
    if (page_.loads.size() < runs()) {
      predicted->remarks.push_back("learnt from " + loads_text());
    }
    if (tested_) predicted->remarks.push_back(*tested_);
    for (std::string& each :
         load_remarks(experiment_->side(kBase), flags_.measure ? changed() : nullptr)) {
      predicted->remarks.push_back(std::move(each));
    }
    for (std::string const& remark : predicted->remarks) say(0, remark);
    for (MilestonePrediction& each : predicted->prediction.milestones) {
      auto measured = flags_.measure ? milestone_times(changed()->result(), each.milestone)
                                     : std::vector<double>();
      if (flags_.measure && measured.empty()) {
        say(0, "no load of the changed page has a " +
                   std::string(kMilestoneNames[static_cast<std::size_t>(each.milestone)]));
      }
      milestones_.push_back({.predicted = std::move(each), .measured_us = std::move(measured)});
    }
    auto const report = report_of(predicted->remarks);
    if (flags_.json) {
      std::printf("%s\n", json::serialize(report).c_str());
    } else {
      std::printf("%s\n%s", printable(experiment_->side(kBase).cells().front().url).c_str(),
                  prediction_text(milestones_).c_str());
    }
    bool const kept = flags_.output.empty() || keep_file(flags_.output, "prediction.json", report);
    return kept ? kExitDone : kExitFailed;
  }

 private:
  const ExperimentSide* changed() const {
    return flags_.measure ? &experiment_->side(kChanged) : &*unmeasured_;
  }

  /// Refuses what the model cannot express before anything is loaded.
  std::optional<int> make_sides() {
    if (!flags_.loads.empty()) {
      auto words = with_kept_options(words_, flags_.loads / kBaseFile);
      if (!words) return say(kExitUsage, words.error());
      words_ = std::move(*words);
    }
    auto const words = with_option(
        with_option(with_option(words_, "--link", flags_.link), "--protocol", flags_.protocol),
        "--cpu-throttle", flags_.cpu_throttle);
    auto change = side_with(words, flags_.what_ifs, seed_, "predict");
    if (!change) return change.error();
    auto base = side_with(words_, {}, seed_, "predict");
    if (!base) return base.error();
    if (base->cells().size() != 1 || change->cells().size() != 1) {
      return say(kExitUsage,
                 "predict takes one page under one configuration; give one URL, browser, protocol, "
                 "link and cache");
    }
    std::fputs(what_if_text(change->effects()).c_str(), stderr);
    if (auto const known = predicted_change(*base, *change, {}, {}); !known) {
      return say(kExitUsage, known.error());
    }
    std::vector<ExperimentSide> sides;
    sides.push_back(std::move(*base));
    if (flags_.measure) {
      sides.push_back(std::move(*change));
    } else {
      unmeasured_.emplace(std::move(*change));
    }
    experiment_.emplace(std::move(sides), flags_.runs);
    return std::nullopt;
  }

  /// A warm-up of each side, then rounds of both in random order.
  std::optional<int> load() {
    CountedLoads const counts = counted_loads({.metrics = {0}});
    std::mt19937_64 random(seed_);
    std::vector<std::size_t> order(experiment_->sides());
    for (std::size_t side = 0; side < order.size(); ++side) order[side] = side;
    DisturbedRepeats repeats;
    for (std::size_t run = 0; run <= flags_.runs;) {
      std::ranges::shuffle(order, random);
      for (auto const side : order) {
        if (experiment_->load(side, run)) continue;
        if (Interruption::was_asked()) return say(Interruption::exit_code(), "interrupted");
        return say(experiment_->exit_code(), "cannot load any more pages");
      }
      auto const why = run == 0 || repeats.is_used_up() ? std::string()
                                                        : experiment_->count_or_skip(run, counts);
      if (why.empty()) {
        ++run;
        continue;
      }
      print_repeat("run " + std::to_string(run), why);
      repeats.add();
      if (repeats.is_used_up()) say(0, "no more runs are repeated: disturbed loads count, too");
    }
    return std::nullopt;
  }

  /// By perturbation, if asked for.
  std::optional<int> test_graph() {
    if (flags_.perturb.empty()) return std::nullopt;
    auto const ends = std::chrono::steady_clock::now() + *parse_budget(flags_.perturb);
    auto const stopped = test_dependencies(
        {.base = experiment_->side(kBase), .words = words_, .seed = seed_, .ends = ends}, page_);
    bool const kept = flags_.output.empty() || keep_dependencies(flags_.output, page_.graph);
    return stopped || kept ? stopped : std::optional<int>(kExitFailed);
  }

  /// Of the page as it is. A run whose load was repeated is one.
  std::size_t runs() const {
    std::set<unsigned> all;
    for (LoadResult::Load const& load : experiment_->side(kBase).result().loads) {
      if (!load.warm_up) all.insert(load.run);
    }
    return all.size();
  }

  std::string loads_text() const {
    auto const count = page_.loads.size();
    if (count >= runs()) return counted(count, "load");
    return std::to_string(count) + " of " + counted(runs(), "load") +
           ": the others failed or were skipped";
  }

  std::optional<int> take_loads() {
    for (std::size_t side = 0; side < experiment_->sides(); ++side) {
      auto const* const name = side == kBase ? kBaseFile : kChangedFile;
      if (auto const why = take_kept_loads(experiment_->side(side), flags_.loads / name)) {
        return say(kExitUsage, *why);
      }
    }
    return std::nullopt;
  }

  json::object report_of(const std::vector<std::string>& remarks) const {
    auto const& cell = experiment_->side(kBase).cells().front();
    auto const conditions = [](const ExperimentSide& side) -> json::object {
      auto const& each = side.cells().front().configuration;
      return {{"browser", each.browser},
              {"protocol", each.protocol},
              {"link", each.link},
              {"cache", each.cache},
              {"cpu_throttle", side.result().settings.cpu_throttle}};
    };
    auto to = conditions(*changed());
    if (slowdown_.is_measured) to["cpu_slowdown"] = slowdown_.factor;
    json::array told;
    for (std::string const& remark : remarks) told.push_back(json::string(as_utf8(remark)));
    return {{"schema", "reprise-prediction/1"},
            {"page", as_utf8(cell.url)},
            {"seed", seed_},
            {"loads", page_.loads.size()},
            {"from", conditions(experiment_->side(kBase))},
            {"to", std::move(to)},
            {"what_ifs", what_if_json(changed()->effects())},
            {"remarks", std::move(told)},
            {"milestones", prediction_json(milestones_)}};
  }

  /// Of an earlier run in the same folder, whose traces are about to be replaced.
  void forget_earlier() const {
    if (flags_.output.empty()) return;
    for (auto const* const name : {kBaseFile, kChangedFile, "prediction.json"}) {
      std::error_code ignored;
      fs::remove(flags_.output / name, ignored);
    }
  }

  /// dependency.json, a.json and, if it was measured, b.json.
  bool keep_loads() const {
    auto const& folder = flags_.output;
    if (folder.empty()) return true;
    bool kept = keep_file(folder, kBaseFile, to_json(experiment_->side(kBase).result()));
    if (flags_.measure) {
      kept = keep_file(folder, kChangedFile, to_json(changed()->result())) && kept;
    }
    return keep_dependencies(folder, page_.graph) && kept;
  }
  std::string loads_kept_text() const {
    if (flags_.output.empty()) return {};
    return ". The loads are kept: try another change with --loads " + flags_.output.string();
  }

  const PredictFlags& flags_;
  std::vector<double> quantiles_;
  std::vector<std::string> words_;
  std::uint64_t seed_;
  std::optional<Experiment> experiment_;
  std::optional<ExperimentSide> unmeasured_;
  LearntPage page_;
  std::optional<std::string> tested_;  ///< the remark of use_kept_tests()
  ProcessorSlowdown slowdown_;
  std::vector<PredictedMilestone> milestones_;
};

int run_command(const PredictFlags& flags, const std::vector<std::string>& words) {
  if (!flags.changes_anything()) {
    return say(kExitUsage,
               "predict needs a change: --what-if, --to-link, --to-protocol or --to-cpu-throttle");
  }
  if (!flags.perturb.empty() && !parse_budget(flags.perturb)) {
    return say(kExitUsage, "predict: --perturb must be a time such as 90s, 10m or 1h");
  }
  auto quantiles = asked_quantiles(flags.quantiles);
  if (!quantiles) return say(kExitUsage, "predict: " + quantiles.error());
  LoadOptions options;  // what is wrong with them, the sides say
  bool const read = !parse_load_words(words, options);
  if (read && std::ranges::any_of(options.browsers, [](auto& each) { return is_firefox(each); })) {
    return say(kExitUsage, "predict needs traces, which Chromium alone writes");
  }
  Interruption const interruption;  // a signal leaves no folder behind
  auto const folder = PrivateFolder::make("reprise-predict-");
  if (!folder) return say(kExitFailed, "cannot create a folder: " + folder.error().message());
  auto traces = folder->path();
  bool is_new = false;
  std::error_code error;
  if (!flags.output.empty()) {
    traces = fs::absolute(flags.output) / "traces";
    is_new = !fs::exists(flags.output, error);
    fs::create_directories(traces, error);
    if (error) return say(kExitFailed, traces.string() + ": " + error.message());
  }
  auto const code = PredictRun(flags, std::move(*quantiles), words, traces).run();
  // Folders that it leaves empty, such as when it is interrupted before the first load.
  if (is_new && fs::remove(traces, error)) fs::remove(flags.output, error);
  return code;
}

}  // namespace

void add_predict_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const flags = std::make_shared<PredictFlags>();
  auto* const sub = add_command(
      app, "predict",
      "Predict what a change would save: reprise predict ARCHIVE [URL] --what-if 'FILTER: ACTION'");
  sub->footer("All other options are those of `reprise load`. Needs Chromium.");
  sub->allow_extras();
  sub->add_option("--what-if", flags->what_ifs,
                  "The change, such as 'type=script: defer'; @FILE reads lines; several are made "
                  "together")
      ->allow_extra_args(false)
      ->type_name("'FILTER: ACTION'");
  sub->add_option("--to-link", flags->link, "Predict for this link instead of --link");
  sub->add_option("--to-protocol", flags->protocol, "Predict for h1 or h2 instead of --protocol");
  sub->add_option("--to-cpu-throttle", flags->cpu_throttle,
                  "Predict for that --cpu-throttle; how much slower it is here, is measured "
                  "with the loads");
  sub->add_option("--quantile", flags->quantiles,
                  "Predict this quantile, such as .95; repeat it or separate several by commas "
                  "[.5,.75,.9]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("Q");
  auto* const runs = sub->add_option("--runs", flags->runs,
                                     "Load each side N times; a 95 % interval of the median needs "
                                     "6, of p75 11, of p90 29")
                         ->check(CLI::Range(kLoadsMin, std::size_t{10'000}))
                         ->capture_default_str();
  sub->add_flag("--measure", flags->measure,
                "Load the changed page as well, and show how wrong the prediction is");
  sub->add_option(
         "--perturb", flags->perturb,
         "For this time (10m), also hold back responses one by one, to learn what waits for "
         "them; kept in ARCHIVE.dependency.json for later predictions")
      ->type_name("TIME");
  sub->add_flag("--json", flags->json, "Print JSON");
  sub->add_option("--seed", flags->seed, "Seed for the order of the loads [random; in the JSON]")
      ->check(seeds());
  sub->add_option("-o,--output", flags->output,
                  "Write prediction.json, dependency.json, the loads and their traces to this "
                  "folder");
  sub->add_option("--loads", flags->loads,
                  "Predict from the loads that an earlier -o wrote to this folder, without loading "
                  "the page; the page, device, link, cache, times and replay options that are not "
                  "given are theirs")
      ->check(CLI::ExistingDirectory)
      ->excludes(runs);
  sub->callback([flags, command, sub, &exit_code] {
    exit_code = run_command(*flags, load_words(*sub, command));
  });
}

}  // namespace reprise
