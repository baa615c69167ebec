#include "archive/reader.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "archive/codec.h"
#include "archive/open_file.h"
#include "archive/reader_state.h"
#include "archive/scan.h"
#include "base/http/digest.h"
#include "base/invariant.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

std::size_t memory_of(const std::vector<std::string>& strings) {
  return std::accumulate(strings.begin(), strings.end(), std::size_t{0},
                         [](std::size_t sum, const std::string& text) {
                           return sum + sizeof(std::string) + text.size();
                         });
}

std::size_t memory_of(const ConnectionFacts& facts) {
  return sizeof facts + facts.host.size() + facts.address.size() + facts.alpn.size() +
         facts.tls_version.size() + facts.cipher.size() + facts.failure.size() +
         memory_of(facts.certificate_names);
}

std::size_t memory_of(const DnsAnswer& answer) {
  return sizeof answer + answer.host.size() + answer.failure.size() + memory_of(answer.chain) +
         memory_of(answer.addresses) + memory_of(answer.https);
}

std::size_t memory_of(const SessionInfo& info) {
  auto const clock = info.injected_clock ? info.injected_clock->mode.size() : 0;
  return sizeof info + info.tool_version.size() + info.time_zone.size() + clock +
         memory_of(info.command_line) + memory_of(info.pages);
}

}  // namespace

bool ArchiveReader::State::use_stored_index() {
  auto const index_offset = find_trailer(bytes());
  if (!index_offset) return false;
  auto const record = read_record(bytes(), *index_offset);
  auto const trailer_offset = bytes().size() - record_bytes(kTrailerPayloadBytes);
  if (!record || record->kind != RecordKind::kIndex || record->end != trailer_offset ||
      !payload_is_whole(*record)) {
    return false;
  }
  auto const view = IndexView::parse(record->payload, bytes().size());
  if (!view) return false;
  index = *view;
  records_end = *index_offset;
  report.indexed = true;
  if (auto const size = index.match_index_record_bytes(); size > 0 && size < *index_offset) {
    auto const before = read_record(bytes(), *index_offset - size);
    if (before && before->kind == RecordKind::kIndex && before->end == *index_offset) {
      match_index = *before;
      records_end = before->offset;
    }
  }
  return true;
}

void ArchiveReader::State::scan() {
  auto const trailer = find_trailer(bytes());
  report.remarks.emplace_back(trailer ? "the index is damaged, so the file was scanned"
                                      : "the file was not closed properly, so it was scanned");
  auto found = scan_records(bytes(), [](const Record&, RecordState) {});
  // When it is the index itself that stopped the walk, no record is lost.
  if (found.walk.fault && trailer != found.walk.end) {
    report.tail_lost_bytes = bytes().size() - found.walk.end;
    report.tail_damaged = *found.walk.fault == RecordFault::kDamaged;
    auto const where = "byte " + std::to_string(found.walk.end);
    auto const lost = counted(report.tail_lost_bytes, "byte is ignored", "bytes are ignored");
    report.remarks.push_back(report.tail_damaged
                                 ? "the record at " + where + " is damaged: from there, " + lost
                                 : "the last record, at " + where + ", was cut short: " + lost);
  }
  report.damaged_records = found.damaged_records;
  report.damaged_exchanges = found.damaged_exchanges;
  if (found.damaged_records > 0) {
    report.remarks.push_back(
        counted(found.damaged_records, "damaged record is ignored", "damaged records are ignored"));
  }
  if (found.over_limits)
    report.remarks.emplace_back("the file has more records than an index can hold");
  records_end = found.records_end;
  own_index = build_index(std::move(found.entries), found.fact_offsets);
  auto const view = IndexView::parse(own_index, bytes().size());
  invariant(view.has_value(), "an index that was just built does not parse");
  index = *view;
}

void ArchiveReader::State::load_facts(std::size_t memory_max) {
  std::unordered_map<std::uint32_t, std::size_t> session_at;
  std::size_t memory = 0;
  std::uint64_t damaged = 0;
  auto const take = [&](const Record& record) {
    if (record.kind == RecordKind::kSessionStart) {
      auto info = decode_session_start(record.payload);
      if (!info) return false;
      session_at[info->number] = sessions.size();
      memory += memory_of(*info);
      sessions.push_back(std::move(*info));
      return true;
    }
    if (record.kind == RecordKind::kSessionEnd) {
      auto const number = decode_session_end(record.payload);
      auto const found = number ? session_at.find(*number) : session_at.end();
      if (found != session_at.end()) {
        sessions[found->second].complete = true;
      } else if (number.value_or(0) != 0) {
        memory += sizeof *number;
        ended_without_start.push_back(*number);
      }
      return number.has_value();
    }
    if (record.kind == RecordKind::kDnsAnswer) {
      auto answer = decode_dns_answer(record.payload);
      if (!answer) return false;
      memory += memory_of(*answer);
      answers.push_back(std::move(*answer));
      return true;
    }
    if (record.kind == RecordKind::kWebSocketMessage) {
      // Its payload is checked when it is asked for: messages may be most of the file.
      auto const decoded = decode_message(record.payload);
      if (!decoded) return false;
      memory += sizeof(MessagePlace);
      messages.push_back({.owner = decoded->owner, .record_offset = record.offset});
      return true;
    }
    if (record.kind != RecordKind::kConnection) return false;
    auto facts = decode_connection(record.payload);
    if (!facts) return false;
    memory += memory_of(*facts);
    connections.push_back(std::move(*facts));
    return true;
  };
  for (auto const offset : index.fact_offsets()) {
    if (memory > memory_max) {
      report.facts_ignored = true;
      report.remarks.emplace_back("too many records of connections and names: some are ignored");
      break;
    }
    auto const record = read_record(bytes(), offset);
    bool const whole =
        record && (record->kind == RecordKind::kWebSocketMessage || payload_is_whole(*record));
    if (!whole || !take(*record)) ++damaged;
  }
  // An append that did not know a number has used it again.
  std::erase_if(ended_without_start,
                [&session_at](std::uint32_t number) { return session_at.contains(number); });
  std::ranges::sort(messages, {}, [](const MessagePlace& place) {
    return std::tuple(place.owner, place.record_offset);
  });
  if (damaged > 0) {
    report.damaged_records += damaged;
    report.remarks.push_back(
        counted(damaged, "damaged record of a session, connection, name or message is ignored",
                "damaged records of sessions, connections, names and messages are ignored"));
  }
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(const std::filesystem::path& path,
                                                           Options options) {
  auto state = std::make_unique<State>();
  auto file = open_regular_file(path, options.lock ? FileLock::kShared : FileLock::kNone);
  if (!file) return fail(file.error());
  state->file = std::move(*file);
  auto const size = file_size(state->file);
  if (!size) return fail(size.error());
  auto map = MappedFile::map(state->file, *size);
  if (!map) return fail(map.error());
  state->map = std::move(*map);
  state->readable_bytes = *size;
  if (auto header = check_file_header(state->bytes()); !header) return fail(header.error());
  if (options.populate) state->map.populate();
  if (!state->use_stored_index()) state->scan();
  state->load_facts(options.facts_memory_max);
  return std::unique_ptr<ArchiveReader>(new ArchiveReader(std::move(state)));
}

std::unique_ptr<ArchiveReader> ArchiveReader::over_records(MappedFile records,
                                                           std::vector<std::byte> index) {
  auto state = std::make_unique<State>();
  state->map = std::move(records);
  state->readable_bytes = state->map.bytes().size();
  state->own_index = std::move(index);
  auto const view = IndexView::parse(state->own_index, state->readable_bytes);
  invariant(view.has_value(), "an index that was just built does not parse");
  state->index = *view;
  return std::unique_ptr<ArchiveReader>(new ArchiveReader(std::move(state)));
}

ArchiveReader::ArchiveReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveReader::~ArchiveReader() = default;

const OpenReport& ArchiveReader::report() const {
  return state_->report;
}
std::uint64_t ArchiveReader::size_bytes() const {
  return state_->bytes().size();
}
std::uint64_t ArchiveReader::records_end() const {
  return state_->records_end;
}
const std::vector<SessionInfo>& ArchiveReader::sessions() const {
  return state_->sessions;
}
const std::vector<std::uint32_t>& ArchiveReader::ended_without_start() const {
  return state_->ended_without_start;
}
const std::vector<ConnectionFacts>& ArchiveReader::connections() const {
  return state_->connections;
}
const std::vector<DnsAnswer>& ArchiveReader::answers() const {
  return state_->answers;
}

std::span<const ArchiveReader::MessagePlace> ArchiveReader::messages() const {
  return state_->messages;
}
std::span<const ArchiveReader::MessagePlace> ArchiveReader::messages(
    const MessageOwner& owner) const {
  auto const found =
      std::ranges::equal_range(state_->messages, owner, std::ranges::less{}, &MessagePlace::owner);
  return {found.begin(), found.end()};
}

Result<WebSocketMessage> ArchiveReader::message(const MessagePlace& place) const {
  auto const record = read_record(state_->bytes(), place.record_offset);
  if (!record || record->kind != RecordKind::kWebSocketMessage || !state_->checked.check(*record)) {
    return fail(archive_errc::corrupt);
  }
  auto const decoded = decode_message(record->payload);
  if (!decoded || decoded->owner != place.owner) return fail(archive_errc::corrupt);
  return decoded->message;
}

std::span<const std::uint64_t> ArchiveReader::fact_offsets() const {
  return state_->index.fact_offsets();
}
std::span<const IndexEntry> ArchiveReader::entries() const {
  return state_->index.entries();
}
std::span<const IndexEntry> ArchiveReader::find_key(std::uint64_t key_hash) const {
  return state_->index.find_key(key_hash);
}
void ArchiveReader::visit_path(std::uint64_t path_hash,
                               const std::function<bool(std::uint32_t)>& visit) const {
  state_->index.visit_path(path_hash, visit);
}

std::span<const std::byte> ArchiveReader::match_index() const {
  auto const& record = state_->match_index;
  return record && state_->checked.check(*record) ? record->payload : Bytes();
}

std::vector<std::uint32_t> ArchiveReader::ordinals_in_order() const {
  // Sorted side by side: entries are in another order, and far apart.
  std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t>> places;
  places.reserve(entries().size());
  for (const IndexEntry& entry : entries()) {
    auto const ordinal = static_cast<std::uint32_t>(places.size());
    places.emplace_back(entry.session, entry.sequence, entry.record_offset, ordinal);
  }
  std::ranges::sort(places);
  std::vector<std::uint32_t> ordinals;
  ordinals.reserve(places.size());
  for (auto const& place : places) ordinals.push_back(std::get<3>(place));
  return ordinals;
}

Result<Exchange> ArchiveReader::exchange(std::uint32_t ordinal) const {
  invariant(ordinal < entries().size(), "an ordinal past the entries of the archive");
  auto const& entry = entries()[ordinal];
  auto const record = read_record(state_->bytes(), entry.record_offset);
  if (!record || record->kind != RecordKind::kExchange || !payload_is_whole(*record)) {
    return fail(archive_errc::corrupt);
  }
  auto exchange = decode_exchange(record->payload);
  if (!exchange) return fail(archive_errc::corrupt);
  auto const found = entry_of(*exchange, entry.record_offset);
  if (found.key_hash != entry.key_hash || found.path_hash != entry.path_hash ||
      found.session != entry.session || found.sequence != entry.sequence ||
      found.outcome != entry.outcome) {
    return fail(archive_errc::corrupt);
  }
  return std::move(*exchange);
}

Result<ExchangeSite> ArchiveReader::site(std::uint32_t ordinal) const {
  invariant(ordinal < entries().size(), "an ordinal past the entries of the archive");
  auto const record = read_record(state_->bytes(), entries()[ordinal].record_offset);
  if (!record || record->kind != RecordKind::kExchange || !payload_is_whole(*record)) {
    return fail(archive_errc::corrupt);
  }
  auto const site = decode_exchange_site(record->payload);
  if (!site) return fail(archive_errc::corrupt);
  return *site;
}

Result<std::span<const std::byte>> ArchiveReader::extent(const StoredBody& body,
                                                         std::size_t index) const {
  invariant(index < body.extents.size(), "an extent past those of the body");
  auto const& extent = body.extents[index];
  auto const record = read_record(state_->bytes(), extent.record_offset);
  if (!record || !state_->checked.check(*record)) return fail(archive_errc::corrupt);
  auto const payload = record->payload;
  std::size_t prefix_bytes = 0;
  if (record->kind == RecordKind::kBody) {
    prefix_bytes = kBodyPrefixBytes;
    if (body.extents.size() != 1 || payload.size() < prefix_bytes ||
        !std::ranges::equal(payload.first(prefix_bytes), body.digest)) {
      return fail(archive_errc::corrupt);
    }
  } else if (record->kind == RecordKind::kChunk) {
    prefix_bytes = kChunkPrefixBytes;
    if (payload.size() < prefix_bytes ||
        load_u64(payload.data()) != body.extents.front().record_offset ||
        load_u64(payload.data() + 8) != index) {
      return fail(archive_errc::corrupt);
    }
  } else {
    return fail(archive_errc::corrupt);
  }
  if (payload.size() - prefix_bytes != extent.size_bytes) return fail(archive_errc::corrupt);
  return payload.subspan(prefix_bytes);
}

ArchiveReader::Place ArchiveReader::place_of(std::span<const std::byte> bytes) const {
  return {.file = state_->file.get(), .offset = bytes.data() - state_->bytes().data()};
}

Result<std::vector<std::byte>> ArchiveReader::read_body(const StoredBody& body,
                                                        std::uint64_t limit_bytes) const {
  if (body.size_bytes > limit_bytes) return fail(archive_errc::too_large);
  if (body.size_bytes > size_bytes()) return fail(archive_errc::corrupt);
  std::vector<std::byte> bytes;
  bytes.reserve(body.size_bytes);
  for (std::size_t i = 0; i < body.extents.size(); ++i) {
    auto const piece = extent(body, i);
    if (!piece) return fail(piece.error());
    if (piece->size() > body.size_bytes - bytes.size()) return fail(archive_errc::corrupt);
    bytes.insert(bytes.end(), piece->begin(), piece->end());
  }
  if (bytes.size() != body.size_bytes || (!bytes.empty() && sha256(bytes) != body.digest)) {
    return fail(archive_errc::corrupt);
  }
  return bytes;
}

Result<void> ArchiveReader::check_body(const StoredBody& body) const {
  Digester digester;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < body.extents.size(); ++i) {
    auto const piece = extent(body, i);
    if (!piece) return fail(piece.error());
    digester.update(*piece);
    size += piece->size();
  }
  if (size != body.size_bytes || (size > 0 && digester.finish() != body.digest)) {
    return fail(archive_errc::corrupt);
  }
  return {};
}

}  // namespace reprise
