#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace reprise {

/// How the cost of late packets grew with time, for those who know when the exchange that they
/// measure began and ended. Has at most kStepsMax steps: less growth than a limit is one step with
/// the next growth, and the limit doubles each time that the steps are too many. So two moments are
/// told apart to two resolution()s at most, whatever was exchanged between them. Not thread-safe;
/// allocates only when it is made: assigning another one to it does not.
class LatenessCurve {
 public:
  static constexpr std::size_t kStepsMax = 1000;
  static constexpr std::chrono::nanoseconds kFirstGrowth = std::chrono::microseconds(50);

  struct Step {
    std::chrono::nanoseconds time;
    std::chrono::nanoseconds cost;  ///< from `time` on
  };

  LatenessCurve() { steps_.reserve(kStepsMax); }

  /// Neither is less than in the call before.
  void add(std::chrono::nanoseconds time, std::chrono::nanoseconds cost);

  const std::vector<Step>& steps() const { return steps_; }
  /// Before a step the cost was more than that of the step before it by less than this.
  std::chrono::nanoseconds resolution() const { return resolution_; }

 private:
  bool is_last_open() const;
  void merge();

  std::vector<Step> steps_;
  std::chrono::nanoseconds growth_min_ = kFirstGrowth;  ///< of all steps but the last
  std::chrono::nanoseconds resolution_ = kFirstGrowth;
};

}  // namespace reprise
