#pragma once

// The inside of ArchiveReader, for its own source files.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "archive/index.h"
#include "archive/reader.h"
#include "archive/record.h"
#include "base/system/descriptor.h"
#include "base/system/mapped_file.h"

namespace reprise {

/// Remembers which payloads were checked, so that a body is not checked again each time it is
/// served. A table of offsets in which later ones replace earlier ones. Thread-safe, lock-free.
class CheckedPayloads {
 public:
  bool check(const Record& record) {
    // Offsets are multiples of 8 and never 0.
    auto& slot = slots_[(record.offset * 0x9e3779b97f4a7c15U) >> (64 - kSlotBits)];
    if (slot.load(std::memory_order_relaxed) == record.offset) return true;
    if (!payload_is_whole(record)) return false;
    slot.store(record.offset, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr unsigned kSlotBits = 13;
  std::array<std::atomic<std::uint64_t>, std::size_t{1} << kSlotBits> slots_{};
};

struct ArchiveReader::State {
  Descriptor file;  ///< holds the lock
  MappedFile map;
  std::vector<std::byte> own_index;  ///< if the file has no usable one
  IndexView index;
  std::optional<Record> match_index;  ///< of a closed file; its payload is not checked yet
  OpenReport report;
  std::uint64_t records_end = 0;
  std::vector<SessionInfo> sessions;
  std::vector<std::uint32_t> ended_without_start;
  std::vector<ConnectionFacts> connections;
  std::vector<DnsAnswer> answers;
  std::vector<MessagePlace> messages;  ///< by owner, then in file order
  CheckedPayloads checked;

  /// The readable part: less than the mapping after a writer has cut off the rest.
  std::uint64_t readable_bytes = 0;

  Bytes bytes() const { return map.bytes().first(readable_bytes); }
  /// Uses the index of a closed file; false if it is missing or invalid.
  bool use_stored_index();
  void scan();
  void load_facts(std::size_t memory_max);
};

}  // namespace reprise
