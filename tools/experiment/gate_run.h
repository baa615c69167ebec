#pragma once

// A gate between two sides, with what is printed and kept (`reprise gate`, `reprise whatif`).

#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "analysis/gate.h"
#include "tools/experiment/experiment.h"
#include "tools/experiment/noise_check.h"
#include "tools/load/load_budget.h"

namespace reprise {

/// Says that the time was over before the first look, and what helps. `needed`: for the loads up to
/// that look, if it is known.
std::string no_look_text(bool noise_was_checked, std::optional<std::chrono::seconds> needed);

/// Says that a gate ended as GateEnd::kDisturbed: how many of its `runs`, by what, and what helps.
std::string disturbed_text(const GateResult& result, std::size_t runs);

/// Says that more loads do not help (GateEnd::kNoValue), and the first reason.
std::string no_value_text(const Comparison& comparison);

class GateRun {
 public:
  /// Reads side A once more, to measure its noise. The error is an exit code.
  using AgainA = std::function<std::expected<ExperimentSide, int>()>;

  /// The experiment has the sides A and B.
  GateRun(GateOptions options, Experiment experiment)
      : options_(std::move(options)),
        experiment_(std::move(experiment)),
        noise_(options_, NoiseStore(NoiseStore::default_folder())) {}

  /// Loads both sides until GateOptions::question is answered, or `budget` is over; tells progress
  /// and writes a.json, b.json and verdict.json to `folder`, if it is not empty. Loads nothing
  /// if the pages and conditions of the sides cannot be compared. First says what this machine can
  /// show, measuring it where that is not known (a quarter of the budget at most), unless `again`
  /// is empty. The error is an exit code, whose message was printed: interrupted, or
  /// pages that cannot be loaded.
  std::expected<GateResult, int> run(std::chrono::seconds budget,
                                     const std::filesystem::path& folder, const AgainA& again);

  /// Says how a run with a comparison ended. Without a verdict, which it says: an exit code.
  std::optional<int> tell_end(const GateResult& result) const;
  boost::json::object verdict_json(const GateResult& result) const;
  const GateOptions& options() const { return options_; }
  const Experiment& experiment() const { return experiment_; }
  /// Whether all files could be written.
  bool kept() const { return kept_; }

 private:
  /// `budget`: for the noise check and the gate.
  std::optional<int> check_noise(const AgainA& again, std::chrono::seconds budget);
  std::string why_disturbed(std::size_t run);
  void keep_files(const std::filesystem::path& folder, const GateResult& result);

  GateOptions options_;
  Experiment experiment_;
  NoiseCheck noise_;
  bool noise_was_checked_ = false;
  bool kept_ = true;
};

}  // namespace reprise
