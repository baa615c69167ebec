#pragma once

// Requests without the values that a page makes up for each of them: two recordings of a page ask
// for the same with another time or random number. Pure; input is hostile.

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace reprise {

/// A request without its volatile values, and these, decoded, by the names of their parameters.
struct SteadyRequest {
  /// Equal for requests that differ in volatile values alone. Only for comparisons, unless there
  /// are no volatile values: then it is the request.
  std::string text;
  std::multimap<std::string, std::string> volatile_values;
};

/// Of a target, a URL or "GET https://...": a value of its query is volatile if it looks random or
/// like a time (MATCHING.md). With kParametersReadMax parameters or more, none is.
SteadyRequest steady_request(std::string_view request);

/// Adds the names of the parameters whose volatile values differ between two requests of equal
/// text.
void note_differing(const SteadyRequest& a, const SteadyRequest& b, std::set<std::string>& names);

/// For users: that requests of A and B which differ in these parameters count as the same. Empty
/// without parameters.
std::string volatile_remark(const std::set<std::string>& names);

}  // namespace reprise
