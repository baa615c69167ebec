#pragma once

// Where the check of a link found it to differ from its settings.

#include <boost/json/array.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace reprise {

struct LinkDeviation {
  std::string text;  ///< a sentence
  /// By how much it can have changed the time of an exchange at most, as a share of that time;
  /// nothing where nobody can tell.
  std::optional<double> share;
};

/// The share for something that took, or moved, so much instead of that: of the smaller of the two.
/// Nothing unless both are more than 0.
std::optional<double> share_off(double is, double should);

std::vector<std::string> texts_of(std::span<const LinkDeviation> deviations);

/// Those that have a share, as objects with "text" and "share".
boost::json::array measured_deviations(std::span<const LinkDeviation> deviations);

}  // namespace reprise
