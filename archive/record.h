#pragma once

// The frame around everything in an archive: a file header, then records on 8-byte boundaries.
// Pure; the layout is described in archive/FORMAT.md. Input is hostile.

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>

#include "base/result.h"

namespace reprise {

using Bytes = std::span<const std::byte>;

/// Readers skip unknown kinds.
enum class RecordKind : std::uint16_t {
  kSessionStart = 1,
  kSessionEnd = 2,
  kConnection = 3,
  kExchange = 4,
  kBody = 5,
  kChunk = 6,
  kIndex = 7,
  kTrailer = 8,
  kDnsAnswer = 16,
  kWebSocketMessage = 17,
};

inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::size_t kFileHeaderBytes = 16;
inline constexpr std::size_t kRecordHeaderBytes = 16;
inline constexpr std::size_t kRecordAlignment = 8;
/// For every record except the index, whose limit is the size of the file.
inline constexpr std::size_t kPayloadBytesMax = 16 << 20;
/// The prefix of the bytes in a body record (its digest) and in a chunk record (body id and
/// sequence number).
inline constexpr std::size_t kBodyPrefixBytes = 32;
inline constexpr std::size_t kChunkPrefixBytes = 16;
inline constexpr std::size_t kTrailerPayloadBytes = 16;

/// The size in the file of a record with that payload, including header and padding.
constexpr std::uint64_t record_bytes(std::uint64_t payload_bytes) {
  auto const bare = kRecordHeaderBytes + payload_bytes;
  return (bare + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

std::array<std::byte, kFileHeaderBytes> encode_file_header();
/// Errors: not_an_archive, newer_version, bad_header.
Result<void> check_file_header(Bytes file);

std::array<std::byte, kRecordHeaderBytes> encode_record_header(RecordKind kind,
                                                               std::uint32_t payload_bytes,
                                                               std::uint32_t payload_crc);

/// A record with a valid header, completely inside the file. Its payload is not checked yet.
struct Record {
  RecordKind kind{};
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  ///< offset of the next record
  std::uint32_t payload_crc = 0;
  Bytes payload;
};

/// Why there is no record at an offset.
enum class RecordFault : std::uint8_t {
  kTorn,     ///< the file ends inside it, or has only zeros from there: a write was cut off
  kDamaged,  ///< the header's checksum or length is invalid
};

/// `offset` can have any value.
std::expected<Record, RecordFault> read_record(Bytes file, std::uint64_t offset);
bool payload_is_whole(const Record& record);
/// Whether the bytes between the payload and the next record are zero, as required.
bool padding_is_zero(Bytes file, const Record& record);

struct Walk {
  std::uint64_t end = 0;  ///< where it stopped
  /// Set if it stopped before the end of the file.
  std::optional<RecordFault> fault;
};

/// Visits the records from the first one on. Stops permanently at an invalid header: later bytes
/// that look like records may be part of a body, and thus chosen by an origin.
Walk walk_records(Bytes file, const std::function<void(const Record&)>& visit);

/// Little endian, unaligned.
std::uint32_t load_u32(const std::byte* from);
std::uint64_t load_u64(const std::byte* from);
void store_u32(std::byte* to, std::uint32_t value);
void store_u64(std::byte* to, std::uint64_t value);

}  // namespace reprise
