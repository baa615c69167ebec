#pragma once

// A request with its phases, as calls. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/calls/call.h"
#include "base/http/headers.h"

namespace reprise {

/// When the phases of a request began and ended, in us since the start of the view; kUnknown if a
/// phase did not occur or is not known. The connection's end includes TLS.
struct RequestTimes {
  static constexpr std::int64_t kUnknown = -1;
  std::int64_t dns_start = kUnknown;
  std::int64_t dns_end = kUnknown;
  std::int64_t connect_start = kUnknown;
  std::int64_t tls_start = kUnknown;
  std::int64_t connect_end = kUnknown;
  std::int64_t send_start = kUnknown;
  std::int64_t send_end = kUnknown;
  std::int64_t first_byte = kUnknown;
};

/// Adds the request and its phases: without gaps or overlaps, from its start to its end, none that
/// took no time. Contradictory times are cut to fit: each phase begins where the one before ended.
/// Without any known time there are no phases.
void add_request(CallTree& tree, Call request, const RequestTimes& times);

/// Sets an attribute unless the value is empty.
void set_if_any(Call& call, std::string_view name, std::string value);

/// Ends the window with the last call.
void end_with_last_call(CallTree& tree);

/// Whether a cache of a content delivery network answered, by the fields of the response: "hit",
/// "miss", "yes" (it did, and does not say how), or empty. Cache-Status is RFC 9211.
std::string cdn_answer(HeaderList headers);

}  // namespace reprise
