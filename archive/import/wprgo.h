#pragma once

#include "archive/import/collect/collector.h"
#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// Reads an archive of Web Page Replay (Go), unzipped: one JSON object (archive/import/README.md
/// describes the format). Faults go to the collector and name the byte or the URL.
///
/// `started`: the result of find_wprgo_start(), or else of find_wprgo_date(), for the same bytes.
void import_wprgo(ByteReader& from, UnixTime started, Collector& collector);

/// When the recording was made. The original tool writes it after the requests, but an archive
/// needs it first: hence a separate pass.
UnixTime find_wprgo_start(ByteReader& from);

/// The same by the Date fields of the responses, for a recording that has no start.
UnixTime find_wprgo_date(ByteReader& from);

}  // namespace reprise::importing
