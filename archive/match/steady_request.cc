#include "archive/match/steady_request.h"

#include <algorithm>
#include <cstddef>

#include "archive/match/features.h"
#include "archive/match/parameters.h"

namespace reprise {
namespace {

/// How many names, and how much of each, a remark tells.
constexpr std::size_t kToldNamesMax = 20;
constexpr std::size_t kToldNameBytesMax = 100;

}  // namespace

SteadyRequest steady_request(std::string_view request) {
  Parameters parameters;
  parameters.add_query(query_of(request));
  SteadyRequest out{.text = std::string(request.substr(0, request.find('?'))),
                    .volatile_values = {}};
  char separator = '?';
  for (const Parameter& each : parameters.list()) {
    auto const value = each.percent_encoded ? decoded(each.value) : std::string(each.value);
    bool const is_steady = shape_of_value(value) == Shape::kPlain;
    out.text.append(1, separator).append(each.name).append("=");
    // No value has a line end as it was sent.
    out.text.append(is_steady ? each.value : "\n");
    if (!is_steady) out.volatile_values.emplace(each.name, value);
    separator = '&';
  }
  // Parameters beyond the limit were not compared.
  bool const is_cut = parameters.list().size() >= kParametersReadMax;
  if (is_cut || out.volatile_values.empty()) {
    return {.text = std::string(request), .volatile_values = {}};
  }
  return out;
}

void note_differing(const SteadyRequest& a, const SteadyRequest& b, std::set<std::string>& names) {
  for (auto const& value : a.volatile_values) {
    bool const differs = std::ranges::find(b.volatile_values, value) == b.volatile_values.end();
    if (differs) names.insert(value.first);
  }
}

std::string volatile_remark(const std::set<std::string>& names) {
  if (names.empty()) return {};
  std::string list;
  std::size_t told = 0;
  for (const std::string& each : names) {
    if (told++ == kToldNamesMax) break;
    list += (list.empty() ? "" : ", ") + each.substr(0, kToldNameBytesMax);
  }
  if (names.size() > kToldNamesMax) {
    list += " and " + std::to_string(names.size() - kToldNamesMax) + " more";
  }
  return "requests of A and B count as the same if only values that look random or like a time "
         "differ: " +
         list;
}

}  // namespace reprise
