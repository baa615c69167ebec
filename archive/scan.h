#pragma once

// The result of reading all records of an archive: the contents of its index, and the damage. Pure;
// input is hostile.

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
  std::vector<std::uint64_t> fact_offsets;  ///< all except exchanges and bodies, in file order
  std::uint64_t damaged_records = 0;        ///< without the index, which is built again
  std::uint64_t damaged_exchanges = 0;      ///< of these, records of exchanges: no entry has them
  std::uint64_t records_end = 0;  ///< after the last record that is neither index nor trailer
  bool over_limits = false;       ///< more records than an index can hold
  Walk walk;
};

/// Checks every record, calling `visit` for each.
Scan scan_records(Bytes file, const std::function<void(const Record&, RecordState)>& visit);

/// The index entry of an exchange with its record at `record_offset`.
IndexEntry entry_of(const Exchange& exchange, std::uint64_t record_offset);

/// The place of the index according to the trailer of a closed archive; nothing if there is no
/// valid trailer at the end.
std::optional<std::uint64_t> find_trailer(Bytes file);

}  // namespace reprise
