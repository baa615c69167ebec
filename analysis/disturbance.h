#pragma once

// What disturbed one load, and what that can have cost it: signals that the page cannot raise by
// itself, so that a slower page is not skipped more often. Pure.

#include <optional>
#include <string>
#include <vector>

#include "pageload/results/load_result.h"

namespace reprise {

struct Disturbance {
  double cost_ms = 0;  ///< at most; infinite where nobody can tell
  std::string text;    ///< "late packets can have cost up to 41.2 ms"
  /// Steal, or a consequence of it: what a host takes from the link makes packets late.
  bool by_host = false;
  /// Lateness: a quota stops the link, too.
  bool by_quota = false;
  /// Of steal alone: the processors' time that was used meanwhile, by everybody.
  double busy_ms = 0;
  /// For which a quota stopped the load that had used it up itself: no reason to skip it, so
  /// `cost_ms` is 0, but one to remark on.
  double by_page_ms = 0;
};

/// What the host takes from the loads that are compared, as long as it takes it from all of them:
/// then it is no disturbance, but a slower machine.
class UsualSteal {
 public:
  /// More is never usual.
  static constexpr double kShareMax = 0.1;

  /// Of a load, disturbed or not.
  void add(const std::vector<Disturbance>& of_load);
  /// Of the processors' time that the loads wanted, 0 to kShareMax.
  double share() const;

 private:
  double steal_ms_ = 0;
  double wanted_ms_ = 0;
};

/// Of the time of the load's processors, or of its quota: programs that use more disturb it, if
/// they leave less than kProcessorsEnough. Neither depends on the page. Only those that the load
/// has no priority over (favour_process()).
inline constexpr double kOthersShareMax = 0.1;
/// As many as a browser keeps busy.
inline constexpr double kProcessorsEnough = 4;
/// A smaller quota of processors stops every page, and no load under it counts.
inline constexpr double kQuotaMin = 2;
/// More is no correction of the clock, but somebody who set it.
inline constexpr double kClockStepMaxMs = 500;

/// A link's reasons to doubt its figures that nobody can tell the cost of: no load over it counts.
/// The others are disturbances.
std::vector<std::string> unmeasured_doubts(const LinkSummary& link);

/// Lateness of the link during the load, and what it missed of its settings; time that the host
/// took (steal; also when it took none), that a processor quota took, that the load was paused for,
/// that the machine slept; stopped processes; a wall clock that was set; other programs. A quota of
/// kQuotaMin or more takes time from a heavy page only: then what others use of it is the
/// disturbance, where that is known.
std::vector<Disturbance> disturbances_of(const PageLoad& page, const ReplaySummary* replay);

/// The one that can have cost most, when that is more than `least_effect_ms`. Steal up to twice its
/// usual share does not count (it comes in ticks of 10 ms, and so varies from load to load), and
/// lateness not as far as that steal, or a quota that the page used up, explains it.
std::optional<Disturbance> disturbed(const std::vector<Disturbance>& all, double least_effect_ms,
                                     double usual_steal = 0);

/// Why a load should not count, a sentence: what disturbed it, or else what its link missed of its
/// settings. Empty: it should.
std::string reason_to_skip(const PageLoad& page, const ReplaySummary* replay,
                           double least_effect_ms, double usual_steal);

}  // namespace reprise
