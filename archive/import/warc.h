#pragma once

#include <string>

#include "archive/import/captures.h"
#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// Reads a WARC (0.17 to 1.1), decompressed. Faults go to the collector and name the record and its
/// byte.
void import_warc(ByteReader& from, Captures& captures, Collector& collector);

/// Reads an ARC (version 1 or 2), decompressed.
void import_arc(ByteReader& from, Captures& captures, Collector& collector);

}  // namespace reprise::importing
