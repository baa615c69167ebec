#pragma once

// What each of several changes of a page costs, from loads with a random half of them: ordinary
// least squares with intervals of Student's t. Pure.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace reprise {

/// One load: of A with some causes put in, or of B itself.
struct EffectRow {
  std::vector<bool> in;  ///< for each cause; of B: all
  bool is_b = false;
  std::size_t phase = 0;  ///< of the measurement: more after each change of the parts
  double value = 0;
};

/// Causes that were put in together, by their numbers.
using CausePart = std::vector<std::size_t>;

struct EstimatedEffect {
  double estimate = 0;
  double low = 0;  ///< of the interval
  double high = 0;

  bool is_shown() const { return low > 0 || high < 0; }
  /// Whether it is shown to be smaller than `least`, on either side.
  bool is_within(double least) const { return low > -least && high < least; }
};

/// How two parts act on each other: what both cost together, less what each costs without the
/// other. Negative of two that cost something and mask each other.
struct Interaction {
  std::size_t first = 0;  ///< numbers of parts
  std::size_t second = 0;
  EstimatedEffect effect;
};

struct Effects {
  double base = 0;                     ///< A, as fitted
  std::vector<EstimatedEffect> parts;  ///< in the order of the parts
  EstimatedEffect unexplained;         ///< B - A less the sum of all parts
  EstimatedEffect total;               ///< B - A
  double deviation = 0;                ///< of a load from the fit
  std::vector<Interaction> pairs;      ///< of each two of the parts that may act on each other
};

/// All causes of a part must have been put in together in all rows. Where causes mask each other
/// (the slower of two counts), each has about the mean of its effects with and without the other.
/// If `acting` has more than one part, the products of these are unknowns, too, and each phase has
/// one of its own: parts of one phase may have been put in together alone, and a machine that
/// became slower since must not look like what they do to each other. Then it is that mean, and the
/// sum of all is right; without, what parts do to each other is noise, and leaks into what is
/// unexplained.
///
/// Each interval has the level 1 - `alpha` / (parts + 2), so that all of them hold together; those
/// of pairs have 1 - `alpha` / pairs. Nothing if the rows cannot tell the unknowns apart, or if
/// there are not more rows than unknowns.
std::optional<Effects> estimate_effects(std::span<const EffectRow> rows,
                                        std::span<const CausePart> parts, double alpha,
                                        std::span<const std::size_t> acting = {});

/// The t with P(|T| > t) = `p`, 0 < p < 1, for Student's distribution.
double student_quantile(double p, std::size_t degrees);

}  // namespace reprise
