#include "archive/scan.h"

#include "archive/codec.h"
#include "archive/index.h"
#include "archive/match/match.h"
#include "archive/web_socket.h"

namespace reprise {
namespace {

/// Whether the record is valid for its kind; adds its part of the index to `scan`.
bool take_record(const Record& record, Scan& scan) {
  switch (record.kind) {
    case RecordKind::kSessionStart:
      if (!decode_session_start(record.payload)) return false;
      break;
    case RecordKind::kSessionEnd:
      if (!decode_session_end(record.payload)) return false;
      break;
    case RecordKind::kConnection:
      if (!decode_connection(record.payload)) return false;
      break;
    case RecordKind::kDnsAnswer:
      if (!decode_dns_answer(record.payload)) return false;
      break;
    case RecordKind::kWebSocketMessage:
      if (!decode_message(record.payload)) return false;
      break;
    case RecordKind::kExchange: {
      auto const exchange = decode_exchange(record.payload);
      if (!exchange) return false;
      if (scan.entries.size() == kExchangesMax) {
        scan.over_limits = true;
      } else {
        scan.entries.push_back(entry_of(*exchange, record.offset));
      }
      return true;
    }
    default:
      return true;
  }
  if (scan.fact_offsets.size() == kFactsMax) {
    scan.over_limits = true;
  } else {
    scan.fact_offsets.push_back(record.offset);
  }
  return true;
}

}  // namespace

Scan scan_records(Bytes file, const std::function<void(const Record&, RecordState)>& visit) {
  Scan scan;
  scan.records_end = kFileHeaderBytes;
  scan.walk = walk_records(file, [&](const Record& record) {
    bool const is_index = record.kind == RecordKind::kIndex || record.kind == RecordKind::kTrailer;
    if (!is_index) scan.records_end = record.end;
    auto const whole = payload_is_whole(record) && take_record(record, scan);
    if (!whole && !is_index) ++scan.damaged_records;
    if (!whole && record.kind == RecordKind::kExchange) ++scan.damaged_exchanges;
    visit(record, whole ? RecordState::kWhole : RecordState::kDamaged);
  });
  return scan;
}

IndexEntry entry_of(const Exchange& exchange, std::uint64_t record_offset) {
  auto const& request = exchange.request;
  return {.key_hash = key_hash(key_of(request)),
          .path_hash = path_hash(request.host, request.target),
          .record_offset = record_offset,
          .sequence = exchange.sequence,
          .session = exchange.session,
          .outcome = exchange.outcome,
          .reserved = {}};
}

std::optional<std::uint64_t> find_trailer(Bytes file) {
  auto const size = record_bytes(kTrailerPayloadBytes);
  if (file.size() < kFileHeaderBytes + size) return std::nullopt;
  auto const trailer = read_record(file, file.size() - size);
  if (!trailer || trailer->kind != RecordKind::kTrailer ||
      trailer->payload.size() != kTrailerPayloadBytes || !payload_is_whole(*trailer)) {
    return std::nullopt;
  }
  // The end of a torn file may be body bytes, which an origin chose. An origin can write a trailer,
  // but does not know the checksum of the session's start. (If that is damaged, nothing is torn.)
  auto const first = read_record(file, kFileHeaderBytes);
  if (first && load_u64(trailer->payload.data() + 8) != first->payload_crc) return std::nullopt;
  return load_u64(trailer->payload.data());
}

}  // namespace reprise
