#pragma once

// Spans as OpenTelemetry exports them: OTLP/JSON (opentelemetry-proto 1.x, "JSON Protobuf
// Encoding"). Pure.

#include <boost/json/object.hpp>

#include "analysis/spans/span.h"

namespace reprise {

/// Adds the spans of an untrusted ExportTraceServiceRequest ("resourceSpans") to `set`.
void read_otlp(const boost::json::object& request, SpanSet& set);

}  // namespace reprise
