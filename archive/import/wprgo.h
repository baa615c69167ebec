#pragma once

#include "archive/import/collect/collector.h"
#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// Reads an archive of Web Page Replay (Go), unzipped: one JSON object (its format is described in
/// archive/import/README.md). Faults end up in the collector and name the byte or the URL.
///
/// `started`: find_wprgo_start()'s answer for the same bytes.
void import_wprgo(ByteReader& from, UnixTime started, Collector& collector);

/// When the recording was made. The original tool writes that behind the requests, but an archive
/// wants it first: hence a walk of its own.
UnixTime find_wprgo_start(ByteReader& from);

}  // namespace reprise::importing
