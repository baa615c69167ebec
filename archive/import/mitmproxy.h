#pragma once

#include "archive/import/collect/collector.h"
#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// Reads a flow file of mitmproxy, of any version that writes tnetstrings (since 0.10). Faults go
/// to the collector and name the flow and the byte.
void import_mitmproxy(ByteReader& from, Collector& collector);

}  // namespace reprise::importing
