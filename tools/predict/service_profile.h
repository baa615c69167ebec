#pragma once

// Profiles of dependencies, made from traces (`predict-service --add-to-profile`).

#include <expected>
#include <string>
#include <string_view>

#include "analysis/service/latency_profile.h"
#include "analysis/service/service_request.h"

namespace reprise {

/// "tier=small,location=here,size=1000,concurrency=1", or some of it. Errors: a sentence.
std::expected<LatencyConditions, std::string> parse_latency_conditions(std::string_view text);

/// Adds the attempts that did not fail, by dependency and operation. The first conditions that are
/// added of a dependency become the observed ones.
void add_latencies(LatencyProfile& profile, const ServiceEndpoint& endpoint,
                   const LatencyConditions& conditions);

}  // namespace reprise
