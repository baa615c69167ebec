#pragma once

// A and B in turn until it is decided: when to load which side, when to look, when to stop. It
// knows neither browsers nor clocks; whoever runs it loads, and says when the time is up.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "analysis/comparison.h"
#include "analysis/repeats.h"

namespace reprise {

/// What a gate finds out.
enum class GateQuestion {
  kDifferent,  ///< whether B differs in anything
  kSlower,     ///< whether B is worse in anything: what is better in B does not answer that
};

struct GateOptions {
  CompareOptions compare;  ///< its level_of and all_failed_differ are the gate's own
  GateQuestion question = GateQuestion::kDifferent;
  std::size_t most_runs = 30;
  std::size_t look_every = 5;
  std::uint64_t seed = 1;  ///< of the order of A and B in each run
};

/// A look at what is known so far.
struct GateLook {
  std::size_t number = 0;  ///< from 1
  std::size_t of = 0;
  std::size_t runs = 0;  ///< loads a side
  Comparison comparison;
};

struct GateCalls {
  /// Loads every page of A (or B) once; the first run, 0, warms up. False ends the gate.
  std::function<bool(bool b, std::size_t run)> load;
  /// Whether this run of both sides was disturbed, and why, one sentence; it is then skipped in
  /// what has been measured. Empty: it counts.
  std::function<std::string(std::size_t run)> why_disturbed = [](std::size_t) {
    return std::string();
  };
  /// What has been loaded so far.
  std::function<Measurements(bool b)> measured;
  /// Whether there is time for another run.
  std::function<bool()> time_left;
  /// After each look.
  std::function<void(const GateLook& look)> on_look;
};

enum class GateEnd {
  kDecided,
  kRefused,
  kNoValue,  ///< what is undecided has no values
  kOutOfRuns,
  kOutOfTime,
  kDisturbed,
  kInterrupted,
};

struct GateResult {
  GateEnd end = GateEnd::kOutOfRuns;
  /// The last look; its number is 0 when there was none.
  GateLook look;
  /// Otherwise there is nothing to tell of A and B. Without a look, A and B were refused before the
  /// first load.
  bool has_comparison() const { return look.number > 0 || end == GateEnd::kRefused; }
  /// Runs that were disturbed, by the reason, without its numbers.
  std::map<std::string, std::size_t> skipped;
  /// By the same reason, the one with the largest first number, which need not be the one that cost
  /// most: "the rate is 990 kbit/s instead of 1000 kbit/s".
  std::map<std::string, std::string> largest;
};

/// Each run loads both sides, in random order, so that what changes on the machine meanwhile
/// touches both alike; a run that was disturbed is repeated, with both sides. Each look judges at
/// its Looks::level(). Stops when the question is answered, when too many runs were disturbed
/// (DisturbedRepeats), when A and B cannot be compared for a reason that more loads do not remove
/// (Refusal::may_pass), and when more loads cannot answer it (can_be_decided()). When the time is
/// up, the runs since the last look get one more look, with all of alpha that is left.
GateResult run_gate(const GateOptions& options, const GateCalls& calls);

}  // namespace reprise
