#include "analysis/unpaired_requests.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "archive/match/features.h"
#include "archive/match/parameters.h"

namespace reprise {
namespace {

/// A request without its volatile values, and these by their names.
struct SteadyRequest {
  std::string text;
  std::multimap<std::string, std::string> volatile_values;
};

SteadyRequest steady(std::string_view request) {
  Parameters parameters;
  parameters.add_query(query_of(request));
  SteadyRequest out{.text = std::string(request.substr(0, request.find('?'))),
                    .volatile_values = {}};
  for (const Parameter& each : parameters.list()) {
    auto const value = each.percent_encoded ? decoded(each.value) : std::string(each.value);
    bool const is_steady = shape_of_value(value) == Shape::kPlain;
    out.text += out.text.contains('?') ? '&' : '?';
    out.text.append(each.name).append("=").append(is_steady ? each.value : "*");
    if (!is_steady) out.volatile_values.emplace(each.name, value);
  }
  return out;
}

std::vector<std::string_view> left_of(const std::set<std::string_view>& ours,
                                      const std::set<std::string_view>& theirs) {
  std::vector<std::string_view> only;
  std::ranges::set_difference(ours, theirs, std::back_inserter(only));
  return only;
}

}  // namespace

UnpairedRequests unpaired_requests(const std::set<std::string_view>& a,
                                   const std::set<std::string_view>& b) {
  UnpairedRequests out{.a = {}, .b = left_of(b, a), .volatile_names = {}};
  std::multimap<std::string, std::string_view> left_of_b;
  for (auto const request : out.b) left_of_b.emplace(steady(request).text, request);
  for (auto const request : left_of(a, b)) {
    auto const ours = steady(request);
    auto const partner = left_of_b.find(ours.text);
    if (ours.volatile_values.empty() || partner == left_of_b.end()) {
      out.a.push_back(request);
      continue;
    }
    auto const theirs = steady(partner->second);
    for (auto const& value : ours.volatile_values) {
      bool const differs =
          std::ranges::find(theirs.volatile_values, value) == theirs.volatile_values.end();
      if (differs) out.volatile_names.insert(value.first);
    }
    std::erase(out.b, partner->second);
    left_of_b.erase(partner);
  }
  return out;
}

}  // namespace reprise
