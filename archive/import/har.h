#pragma once

#include "archive/import/collect/collector.h"
#include "archive/import/har_content.h"
#include "archive/import/har_facts.h"

namespace reprise::importing {

/// Reads a HAR 1.2 as written by browsers, proxies and Playwright: archive/import/README.md lists
/// what it cannot contain. `facts`: the result of find_har_facts() for the same bytes.
/// `attachments` reads the files in Playwright's `_file`.
void import_har(ByteReader& from, HarFacts facts, AttachmentReader& attachments,
                Collector& collector);

}  // namespace reprise::importing
