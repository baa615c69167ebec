#pragma once

// What a what-if changes of how an archive is served: no response is different. Pure.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proxy/replay/response/think_rules.h"
#include "proxy/replay/tls_plans.h"
#include "proxy/whatif/effect.h"
#include "proxy/whatif/intervention.h"
#include "proxy/whatif/page_requests.h"

namespace reprise::whatif {

struct Conditions {
  std::shared_ptr<const ThinkRules> think;                       ///< null: none
  std::map<std::string, std::chrono::nanoseconds> further_away;  ///< by host
  std::map<std::string, std::chrono::nanoseconds> slower_names;  ///< by host
  TlsChanges tls;
};

/// What hosts speak already, so that `protocol=` changes nothing.
struct SpokenProtocols {
  std::size_t values = 0;  ///< of `--protocol`; 0: they are not known
  /// The values with which a host speaks nothing else than "http/1.1", "h2" or "h3": by host and
  /// that.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> with;
};

/// The conditions among `interventions`. `seed`: of draws from distributions. Adds to `effects`,
/// one for each intervention; those of others are left alone. `has_think_times`: whether requests
/// have think times that can become longer or shorter. `protocol=` changes nothing if the host
/// speaks it with every value of `--protocol`; if with some of them, a remark names these.
Conditions conditions_of(const PageRequests& requests, std::span<const Intervention> interventions,
                         std::uint64_t seed, std::vector<Effect>& effects,
                         bool has_think_times = true, const SpokenProtocols& spoken = {});

}  // namespace reprise::whatif
