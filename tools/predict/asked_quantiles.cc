#include "tools/predict/asked_quantiles.h"

#include <algorithm>
#include <charconv>

#include "base/text/printable.h"

namespace reprise {

std::expected<std::vector<double>, std::string> asked_quantiles(
    const std::vector<std::string>& texts) {
  if (texts.empty()) return std::vector(kPredictedQuantiles.begin(), kPredictedQuantiles.end());
  std::vector<double> quantiles;
  for (std::string const& text : texts) {
    double quantile = 0;
    auto const* const end = text.data() + text.size();
    auto const [last, error] = std::from_chars(text.data(), end, quantile);
    if (error != std::errc() || last != end || !(quantile > 0 && quantile < 1)) {
      return std::unexpected("--quantile must be a number above 0 and below 1, such as .95, not '" +
                             printable(text) + "'");
    }
    if (std::ranges::find(quantiles, quantile) == quantiles.end()) quantiles.push_back(quantile);
  }
  if (quantiles.size() > kQuantilesMax) {
    return std::unexpected("--quantile takes at most " + std::to_string(kQuantilesMax) +
                           " quantiles");
  }
  return quantiles;
}

}  // namespace reprise
