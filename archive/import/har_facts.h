#pragma once

#include <string>
#include <vector>

#include "archive/import/collect/collector.h"
#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// What a HAR says of all its entries.
struct HarFacts {
  std::string tool;                ///< names and versions of `creator` and `browser`
  std::vector<std::string> pages;  ///< start URLs, within the limits of the collector
  UnixTime started;                ///< of the session
};

/// Reads them. Tools may write them after the entries, but an archive needs them first: hence a
/// separate pass, which ends at the entries if the facts were before them. Faults are those of
/// import_har(), which reads the same bytes.
HarFacts find_har_facts(ByteReader& from);

}  // namespace reprise::importing
