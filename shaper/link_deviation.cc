#include "shaper/link_deviation.h"

#include <algorithm>
#include <boost/json/object.hpp>

namespace reprise {

std::optional<double> share_off(double is, double should) {
  if (is <= 0 || should <= 0) return std::nullopt;
  return std::max(is, should) / std::min(is, should) - 1;
}

std::vector<std::string> texts_of(std::span<const LinkDeviation> deviations) {
  std::vector<std::string> out;
  for (const LinkDeviation& each : deviations) out.push_back(each.text);
  return out;
}

boost::json::array measured_deviations(std::span<const LinkDeviation> deviations) {
  boost::json::array out;
  for (const LinkDeviation& each : deviations) {
    if (!each.share) continue;
    out.push_back(boost::json::object{{"text", each.text}, {"share", *each.share}});
  }
  return out;
}

}  // namespace reprise
