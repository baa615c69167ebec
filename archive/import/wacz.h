#pragma once

#include "archive/import/captures.h"
#include "archive/import/source/zip.h"

namespace reprise::importing {

/// Whether a zip is a WACZ: it has WARCs in archive/.
bool is_wacz(const Zip& zip);

/// Reads the pages and the WARCs of a WACZ, in the order of their names. Faults go to the collector
/// and name the WARC.
void import_wacz(const Zip& zip, const InputSource::Progress& progress, Captures& captures,
                 Collector& collector);

}  // namespace reprise::importing
