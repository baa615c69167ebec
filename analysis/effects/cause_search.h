#pragma once

// Which loads tell the causes apart, and when enough is known: rounds of A, B and hybrids with a
// random half of the causes; parts of many causes are halved where they cost something. It knows
// neither browsers nor clocks. Pure.

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "analysis/effects/effects.h"

namespace reprise {

struct CauseSearchOptions {
  std::size_t causes = 0;
  std::size_t parts_most = 12;  ///< at the start; each is a run of causes
  double alpha = 0.05;          ///< of all intervals at all looks together
  double least = 1;             ///< effects below it do not matter
  std::uint64_t seed = 1;
};

class CauseSearch {
 public:
  /// Hybrids in a round, beside A and B.
  static constexpr std::size_t kHybrids = 4;
  /// With A and B.
  static constexpr std::size_t kRoundLoads = 2 + kHybrids;
  /// Rounds before the first look: at least.
  static constexpr std::size_t kRoundsLeast = 4;
  /// Looks beside those that the largest part takes to be halved to single causes.
  static constexpr std::size_t kMoreLooks = 4;

  /// It is enough to know of a part that it costs less than this share of B - A.
  static constexpr double kLittle = 0.1;

  explicit CauseSearch(const CauseSearchOptions& options);

  /// The loads of the next round, in random order, without values. Two hybrids each are each
  /// other's complement, so that every part is put in half of the time. Of some random hybrids it
  /// takes the one after which each two parts were together in hybrids as often as apart, nearly:
  /// the least sum of squared correlations (E(s^2): Booth and Cox, Technometrics 4, 1962).
  std::vector<EffectRow> next_round();
  /// A load that counts.
  void add(EffectRow row) { rows_.push_back(std::move(row)); }

  /// After a round: looks if it is time to, and halves the parts that cost something. False if
  /// there is nothing left to learn, or after the last look.
  bool goes_on();

  /// At the end: joins again what was halved last, if the loads do not tell the halves apart yet;
  /// those that have one half alone do not count then. Where some of at most kActingMost causes are
  /// shown to act on each other, the effects are of a fit that has their products, and `pairs` has
  /// those that are shown. Nothing if there are too few loads.
  std::optional<Effects> finish();
  /// A, which has none of the causes, tells the products of more causes badly apart.
  static constexpr std::size_t kActingMost = 4;

  const std::vector<CausePart>& parts() const { return parts_; }
  const std::vector<EffectRow>& rows() const { return rows_; }
  /// As of now; nothing if there are too few loads.
  std::optional<Effects> effects() const;

 private:
  bool halve(const Effects& effects);
  EffectRow draw_hybrid();
  /// The share of alpha of each look. The fit at the end has one, too, and so have its pairs.
  double level() const { return options_.alpha / static_cast<double>(looks_most_ + 2); }

  CauseSearchOptions options_;
  std::vector<CausePart> parts_;
  std::vector<CausePart> parts_before_;  // they were halved last
  std::vector<EffectRow> rows_;
  std::vector<std::vector<bool>> drawn_;  // hybrids, without their complements
  std::mt19937_64 random_;
  std::size_t phase_ = 0;  // so often were parts halved
  std::size_t rounds_ = 0;
  std::size_t next_look_ = 0;  // in rounds
  std::size_t looks_most_ = 0;
  std::size_t looks_ = 0;
};

}  // namespace reprise
