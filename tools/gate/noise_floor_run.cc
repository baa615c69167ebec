#include "tools/gate/noise_floor_run.h"

#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <expected>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/repeats.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/compare/noise_floor_text.h"
#include "tools/experiment/experiment.h"
#include "tools/experiment/experiment_side.h"
#include "tools/experiment/remedy.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

/// The loads of one side, which are A and B of a gate's runs in turn.
class LoadsOfOneSide {
 public:
  LoadsOfOneSide(Experiment& experiment, const CountedLoads& counted, std::size_t count)
      : experiment_(experiment), counted_(counted), count_(count) {}

  /// Makes all; fewer where the machine disturbs most. False if nothing can be loaded any more.
  bool make() {
    for (std::size_t load = 0; load <= count_; ++load) {
      if (!make(load)) return false;
      print_progress(load);
      if (!repeats_.too_many(counting_)) continue;
      say(0, "stopped after " + counted(load, "load") + ": the machine disturbs most of them");
      break;
    }
    return true;
  }

 private:
  /// The first one, 0, warms up. Each two more have the seeds of one run.
  bool make(std::size_t load) {
    for (;;) {
      if (!experiment_.load(0, (load + 1) / 2)) return false;
      if (load == 0) return true;
      auto const why = experiment_.count_or_skip_last(0, counted_);
      if (why.empty()) {
        ++counting_;
        return true;
      }
      repeats_.add();
      auto const what = "load " + std::to_string(load);
      if (repeats_.is_used_up()) {
        say(0, what + " does not count: " + printable(why));
        return true;
      }
      print_repeat(what, printable(why));
    }
  }

  void print_progress(std::size_t load) const {
    auto const what =
        load == 0 ? "warmed up" : "load " + std::to_string(load) + " of " + std::to_string(count_);
    std::chrono::duration<double> const left(experiment_.load_seconds() *
                                             static_cast<double>(count_ - load));
    std::fprintf(stderr, "%s, about %s left\n", what.c_str(),
                 duration_text(std::chrono::ceil<std::chrono::seconds>(left)).c_str());
  }

  Experiment& experiment_;
  CountedLoads counted_;
  std::size_t count_;
  std::size_t counting_ = 0;
  DisturbedRepeats repeats_;
};

/// The error is an exit code, whose message was printed.
std::expected<Measurements, int> read_loads(const std::filesystem::path& file) {
  auto read = read_measurements(file);
  if (read) return std::move(*read);
  return std::unexpected(
      say(kExitFailed, file.string() + " is not a result of `reprise load -o`: " + read.error()));
}

/// The same; a.json gets them. `kept`: whether it could be written.
std::expected<Measurements, int> measure(const NoiseFloorRun& run, bool& kept) {
  auto side = ExperimentSide::parse(run.side);
  if (!side) return std::unexpected(say(side.error().exit_code, "gate: " + side.error().text));
  auto const most = (run.count + 1 + kDisturbedRunsMax) * side->cells().size();
  if (!run.output.empty() && most > kResultLoadsMax) {
    return std::unexpected(say(kExitUsage, "gate: up to " + std::to_string(most) +
                                               " loads are too many for a.json, which holds " +
                                               std::to_string(kResultLoadsMax) +
                                               ": use a smaller --aa-loads"));
  }
  side->result().seed = run.options.seed;
  std::vector<ExperimentSide> sides;
  sides.push_back(std::move(*side));
  Experiment experiment(std::move(sides), 0);
  LoadsOfOneSide loads(experiment, counted_loads(run.options.gate.compare), run.count);
  bool const done = loads.make();
  kept = keep_file(run.output, "a.json", to_json(experiment.side(0).result()));
  if (!done) return std::unexpected(experiment.exit_code());
  return experiment.measured(0);
}

}  // namespace

int run_noise_floor(const NoiseFloorRun& run) {
  bool kept = true;
  auto const loads = run.loads.empty() ? measure(run, kept) : read_loads(run.loads);
  if (!loads) return loads.error();
  auto const floor = noise_floor(*loads, run.options);
  if (!floor) {
    auto const text = printable(floor.error());
    // What is before it contains a URL, which could look like a reason.
    auto const reason = text.find(" disturbed (");
    return say(kExitFailed, reason == std::string::npos
                                ? text
                                : text + ". " + remedy_text(std::string_view(text).substr(reason)));
  }
  auto const json = noise_floor_json(*floor);
  auto const text = run.json ? boost::json::serialize(json) + "\n" : noise_floor_text(*floor);
  std::fputs(text.c_str(), stdout);
  kept = keep_file(run.output, "noise.json", json) && kept;
  return kept ? kExitDone : kExitFailed;
}

}  // namespace reprise
