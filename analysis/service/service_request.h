#pragma once

// Requests to a service with the calls of its dependencies, from spans. Pure. Times are in us since
// the start of the request.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/spans/span.h"

namespace reprise {

struct ServiceAttempt {
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
  bool failed = false;

  std::int64_t took_us() const { return end_us - start_us; }
};

/// A call of a dependency. When it failed and the same was called again afterwards, both are
/// attempts of one call.
struct ServiceCall {
  static constexpr std::size_t kAttemptsMax = 64;

  std::string dependency;                ///< "postgresql": who is called
  std::string operation;                 ///< "pg.query:SELECT shop": what is asked for
  std::uint32_t occurrence = 0;          ///< how many calls of the same began before
  std::vector<ServiceAttempt> attempts;  ///< one or more, in their order

  std::int64_t start_us() const { return attempts.front().start_us; }
  /// Can be after the end of the request.
  std::int64_t end_us() const { return attempts.back().end_us; }
  std::int64_t lasts_us() const { return end_us() - start_us(); }
};

struct ServiceRequest {
  static constexpr std::size_t kCallsMax = 1'000;

  std::int64_t started_ns = 0;  ///< since the epoch, by the clock of its host
  std::int64_t took_us = 0;
  std::vector<ServiceCall> calls;  ///< by start
};

/// The requests to one endpoint of one service.
struct ServiceEndpoint {
  std::string service;
  std::string endpoint;  ///< "GET /cart"
  std::vector<ServiceRequest> requests;
};

/// The requests are spans of kind "server", and other roots that call something, but for those of
/// kind "client", "producer" and "consumer". Their calls are the outermost spans inside them that
/// leave the service: of kind "client", "producer" and "server", and of unknown kind if nothing is
/// inside. All else is the service's own work. What is not followed is added to `losses`. Endpoints
/// with more requests come first.
std::vector<ServiceEndpoint> service_endpoints(const SpanSet& set, std::vector<CallLoss>& losses);

}  // namespace reprise
