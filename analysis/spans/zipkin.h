#pragma once

// Spans of Zipkin's API, version 2 (https://zipkin.io/zipkin-api, POST /api/v2/spans). Pure.

#include <boost/json/array.hpp>

#include "analysis/spans/span.h"

namespace reprise {

/// Adds an untrusted list of spans to `set`; or a list of such lists, as GET /api/v2/traces gives.
void read_zipkin(const boost::json::array& list, SpanSet& set);

}  // namespace reprise
