#include "tools/predict/service_profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/text/white_space.h"

namespace reprise {

std::expected<LatencyConditions, std::string> parse_latency_conditions(std::string_view text) {
  LatencyConditions out;
  while (!text.empty()) {
    auto const comma = text.find(',');
    auto const one = trim(text.substr(0, comma));
    auto const equals = one.find('=');
    auto const name = one.substr(0, equals);
    auto const value = equals == std::string_view::npos ? "" : one.substr(equals + 1);
    double number = 0;
    auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    bool const is_number = error == std::errc() && end == value.data() + value.size() &&
                           std::isfinite(number) && number > 0;
    if (name == "tier" && !value.empty()) {
      out.tier = value;
    } else if (name == "location" && !value.empty()) {
      out.location = value;
    } else if (name == "size" && is_number) {
      out.size = number;
    } else if (name == "concurrency" && is_number) {
      out.concurrency = number;
    } else {
      return std::unexpected("'" + std::string(one) +
                             "' must be tier=NAME, location=NAME, size=N or concurrency=N");
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return out;
}

void add_latencies(LatencyProfile& profile, const ServiceEndpoint& endpoint,
                   const LatencyConditions& conditions) {
  std::map<std::string, std::map<std::string, std::vector<double>>> times;
  for (ServiceRequest const& request : endpoint.requests) {
    for (ServiceCall const& call : request.calls) {
      for (ServiceAttempt const& attempt : call.attempts) {
        if (attempt.failed || call.dependency.empty()) continue;
        times[call.dependency][call.operation].push_back(static_cast<double>(attempt.took_us()));
      }
    }
  }
  for (auto& [name, operations] : times) {
    auto known = std::ranges::find(profile.dependencies, name, &DependencyProfile::name);
    if (known == profile.dependencies.end()) {
      profile.dependencies.push_back({.name = name, .observed = conditions, .latencies = {}});
      known = std::prev(profile.dependencies.end());
    }
    for (auto& [operation, all] : operations) {
      known->latencies.push_back(
          {.operation = operation, .conditions = conditions, .times_us = std::move(all)});
    }
  }
}

}  // namespace reprise
