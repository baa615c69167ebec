#pragma once

#include "archive/import/collect/collector.h"
#include "archive/import/import.h"

namespace reprise::importing {

/// Reads a HAR 1.2 as browsers, proxies and Playwright write it: archive/import/README.md says what
/// it cannot hold. `attachments` finds the files that Playwright's `_file` names.
void import_har(ByteReader& from, const Attachments& attachments, Collector& collector);

}  // namespace reprise::importing
