#pragma once

// Measures changes of a page against the page as recorded, all in one interleaved experiment.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/advice/ranking.h"
#include "analysis/comparison.h"
#include "tools/advise/advice.h"
#include "tools/advise/advice_pictures.h"
#include "tools/advise/two_looks.h"
#include "tools/experiment/experiment.h"
#include "tools/load/said_once.h"
#include "tools/predict/learnt_page.h"

namespace reprise {

struct AdviseOptions {
  CompareOptions compare;  ///< of one metric; its alpha is that of all changes together
  std::size_t candidates = 6;
  std::size_t most_runs = 100;  ///< loads of each side
  bool images = true;
  bool keeps_loads = false;     ///< those of the page as recorded are wanted in any case
  bool takes_pictures = false;  ///< after the budget
  std::chrono::seconds budget{600};
  std::uint64_t seed = 1;
  std::vector<std::string> words;  ///< arguments of `reprise load`
  std::filesystem::path traces;    ///< a folder for those of the loads that are predicted from
};

class AdviseRun {
 public:
  /// Loads of each side before the rest of the budget is allotted by what they vary by: as few as
  /// can show a difference among several changes.
  static constexpr std::size_t kPilot = 6;
  /// Loads from which the page is learnt, and candidates are found and predicted: as few as a 95 %
  /// interval of a median needs. They are traced, and therefore slower, and no part of the
  /// comparison.
  static constexpr std::size_t kWatched = 6;
  /// More are not tried.
  static constexpr std::size_t kCandidatesMax = 100;

  explicit AdviseRun(AdviseOptions options) : options_(std::move(options)) {}

  /// Finds candidates, measures them, and those that help together; then loads the page as recorded
  /// and each change with advice once more, with a trace, for pictures(). Tells progress. An exit
  /// code if the page cannot be loaded, or after an interruption; advice() is by what was measured
  /// so far.
  std::optional<int> run();

  const Advice& advice() const { return advice_; }
  /// After run() found a page.
  const Experiment& experiment() const { return *experiment_; }
  const LearntPage& page() const { return page_; }
  /// Empty unless they are taken.
  const AdvicePictures& pictures() const { return pictures_; }

 private:
  static constexpr std::size_t kBase = 0;  ///< the page as recorded
  /// A load beside the pilot's of base and changes: the warm-up.
  static constexpr std::size_t kWarmUps = 1;

  /// A load for pictures.
  struct PictureWanted {
    std::size_t side = 0;  ///< of the experiment
    std::string title;
    std::vector<std::string> what_ifs;
  };

  std::optional<int> find_and_measure();
  std::optional<int> watch();
  /// The changes that could be measured, the one that promises most first.
  std::vector<MeasuredChange> ranked();
  /// The page with a change. The error is why it cannot be made.
  std::expected<ExperimentSide, std::string> side_of(const MeasuredChange& change) const;
  void not_measure(MeasuredChange change, std::string why);
  std::optional<int> find();
  /// At most --candidates changes, as many as so many seconds pay for.
  std::size_t paid_by(double seconds) const;
  /// Adds a change to the experiment, or to those that are not measured.
  void put(MeasuredChange change, AdvicePlace place);
  void count_beyond(const MeasuredChange& change);
  /// Each change, with two looks at it (two_looks.h), and sorts them.
  std::optional<int> measure_alone();
  std::optional<int> pilot();
  std::optional<int> measure();
  /// Loads the undecided changes, and the page as recorded, with the time that was withheld for
  /// combinations and is not needed.
  std::optional<int> measure_undecided();
  void look();
  void look_again();
  /// Adds what helps to the best change, one by one, and keeps what makes it faster still.
  std::optional<int> measure_together();
  /// Loads `with`, which is added to the experiment, beside the page as recorded and the side
  /// `before`, and sets the change's side.
  std::optional<int> measure_beside(std::size_t before, ExperimentSide with,
                                    MeasuredChange& change);
  /// Each side so many times, in rounds.
  std::optional<int> load_rounds(std::span<const std::size_t> loads, std::uint64_t seed);
  std::optional<int> take_pictures();
  /// Adds to pictures_. An exit code only after an interruption: what is not seen is told.
  std::optional<int> take_picture(const PictureWanted& wanted,
                                  const std::shared_ptr<SaidOnce>& said);
  void miss_picture(std::string why);
  static std::vector<std::string> what_ifs_of(const MeasuredChange& change);
  /// Loads these sides in this order, until the budget ends. A disturbed load is made again at
  /// once, some times at most: a whole round is too long to be quiet, and no page can raise what
  /// disturbs it. False: exit_code().
  bool round(const std::vector<std::size_t>& sides);
  /// Compares a change with the page as recorded, by the loads from that run on. What it loses is
  /// known by all loads.
  void judge(MeasuredChange& change, double alpha, std::size_t first_run = 0) const;
  Comparison compared(std::size_t a, std::size_t b, double alpha, std::size_t first_run) const;
  double seconds_left() const {
    return std::chrono::duration<double>(ends_ - std::chrono::steady_clock::now()).count();
  }
  bool time_is_up() const { return seconds_left() <= kept_seconds_; }
  double alpha_of_each() const {
    return options_.compare.alpha / static_cast<double>(advice_.changes.size());
  }
  /// The metric in the loads that count.
  std::vector<double> values_of(const Experiment& experiment, std::size_t side) const;
  LoadsBeside loads_beside(const MeasuredChange& change) const;
  /// What it takes at least to measure so many changes beside the page as recorded: each is loaded
  /// kPilot times, and once to warm up.
  double seconds_of(std::size_t changes) const;
  /// To measure one change more, together with others.
  double seconds_together() const;
  int stopped(const Experiment& experiment) const;
  /// `measuring`: what the changes took, each alone.
  std::optional<std::chrono::minutes> budget_to_decide(
      std::chrono::duration<double> measuring) const;
  /// Sets what a side is predicted to save.
  void predict(const ExperimentSide& side, MeasuredChange& change) const;

  AdviseOptions options_;
  std::chrono::steady_clock::time_point ends_;
  std::optional<Experiment> watched_;
  LearntPage page_;
  std::optional<Experiment> experiment_;
  Advice advice_;
  AdvicePictures pictures_;
  double load_seconds_ = 0;
  double kept_seconds_ = 0;              ///< of what is left, for what comes later
  std::vector<std::size_t> planned_;     ///< loads of each side that count, at the first look
  double first_share_ = 1;               ///< see first_look_level()
  std::vector<LoadsBeside> first_look_;  ///< of each change, in the order before sorting
  std::size_t rounds_ = 0;
  std::size_t runs_ = 0;  ///< the highest so far: a round has several if it has a side repeatedly
};

}  // namespace reprise
