#pragma once

// What a walk over all records of an archive finds: the contents of its index, and what is damaged.
// Pure; input is hostile.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "archive/exchange.h"
#include "archive/reader.h"
#include "archive/record.h"

namespace reprise {

enum class RecordState : std::uint8_t { kWhole, kDamaged };

struct Scan {
  std::vector<IndexEntry> entries;          ///< in file order
  std::vector<std::uint64_t> fact_offsets;  ///< all but exchanges and bodies, in file order
  std::uint64_t damaged_records = 0;
  std::uint64_t records_end = 0;  ///< behind the last record that is neither index nor trailer
  bool over_limits = false;       ///< there are more records than an index holds
  Walk walk;
};

/// Checks every record, calling `visit` for each.
Scan scan_records(Bytes file, const std::function<void(const Record&, RecordState)>& visit);

/// The line of the index for an exchange whose record lies at `record_offset`.
IndexEntry entry_of(const Exchange& exchange, std::uint64_t record_offset);

/// Where the trailer of a closed archive says that the index lies; nothing when there is no whole
/// trailer at the end.
std::optional<std::uint64_t> find_trailer(Bytes file);

}  // namespace reprise
