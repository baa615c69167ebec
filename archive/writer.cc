#include "archive/writer.h"

#include <unistd.h>

#include <algorithm>

#include "archive/codec.h"
#include "archive/index.h"
#include "archive/match/build.h"
#include "archive/open_file.h"
#include "archive/reader_state.h"
#include "archive/scan.h"
#include "archive/writer_state.h"
#include "base/http/crc32c.h"
#include "base/invariant.h"

namespace reprise {

const StoredBody* ArchiveWriter::State::find_body(const Sha256& digest, std::uint64_t size_bytes) {
  auto const found = bodies.find(digest);
  if (found == bodies.end() || found->second.body.size_bytes != size_bytes) return nullptr;
  if (!found->second.checked && !before->check_body(found->second.body)) {
    bodies.erase(found);
    return nullptr;
  }
  found->second.checked = true;
  return &found->second.body;
}

std::optional<StoredBody> ArchiveWriter::known_body(const Sha256& digest,
                                                    std::uint64_t size_bytes) {
  auto const* const found = state_->find_body(digest, size_bytes);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

Result<std::uint64_t> ArchiveWriter::State::add_fact(RecordKind kind, std::string_view payload) {
  if (fact_offsets.size() == kFactsMax) return fail(archive_errc::too_large);
  auto const offset = file.append({.kind = kind, .pieces = {std::as_bytes(std::span(payload))}});
  if (offset) fact_offsets.push_back(*offset);
  return offset;
}

Result<void> ArchiveWriter::State::sync() {
  return options.fsync ? file.sync() : Result<void>();
}

Result<std::unique_ptr<ArchiveWriter>> ArchiveWriter::create(const std::filesystem::path& path,
                                                             Options options) {
  auto file = create_private_file(path);
  if (!file) return fail(file.error());
  auto state = std::make_unique<State>(RecordFile(std::move(*file), 0), options);
  if (auto written = state->file.append_file_header(); !written) {
    ::unlink(path.c_str());
    return fail(written.error());
  }
  return std::unique_ptr<ArchiveWriter>(new ArchiveWriter(std::move(state)));
}

Result<std::unique_ptr<ArchiveWriter>> ArchiveWriter::append(const std::filesystem::path& path,
                                                             Options options) {
  auto file = open_regular_file(path, FileLock::kExclusive);
  if (!file) return fail(file.error());
  auto before = ArchiveReader::open(path, {.lock = false, .populate = false});
  if (!before) return fail(before.error());
  const ArchiveReader& reader = **before;
  // A new index would hide damaged records that no index knows: a later edit would drop them.
  if (!reader.report().indexed && reader.report().is_damaged()) return fail(archive_errc::corrupt);
  // The index is cut off by the first write. It alone knows what is behind a damaged head.
  auto const records = (*before)->state_->bytes().first(reader.records_end());
  if (reader.report().indexed && walk_records(records, [](const Record&) {}).fault) {
    return fail(archive_errc::corrupt);
  }

  auto state = std::make_unique<State>(RecordFile(std::move(*file), reader.records_end()), options);
  // Copies: the index is in the mapping, and is cut off with the first write.
  state->entries.assign(reader.entries().begin(), reader.entries().end());
  state->fact_offsets.assign(reader.fact_offsets().begin(), reader.fact_offsets().end());
  for (const SessionInfo& info : reader.sessions()) {
    state->session = std::max(state->session, info.number);
  }
  for (auto const number : reader.ended_without_start()) {
    state->session = std::max(state->session, number);
  }
  auto const remember = [&state](const StoredBody& body) {
    if (body.size_bytes > 0) {
      state->bodies.try_emplace(body.digest, State::KnownBody{.body = body, .checked = false});
    }
  };
  for (std::uint32_t ordinal = 0; ordinal < state->entries.size(); ++ordinal) {
    state->session = std::max(state->session, state->entries[ordinal].session);
    auto const exchange = reader.exchange(ordinal);
    if (!exchange) continue;
    remember(exchange->request.body);
    remember(exchange->response.body);
  }
  state->before = std::move(*before);
  state->before->state_->readable_bytes = state->file.size_bytes();
  return std::unique_ptr<ArchiveWriter>(new ArchiveWriter(std::move(state)));
}

ArchiveWriter::ArchiveWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveWriter::~ArchiveWriter() = default;

Result<std::uint32_t> ArchiveWriter::begin_session(const SessionInfo& info) {
  if (state_->session == UINT32_MAX) return fail(archive_errc::too_large);
  auto numbered = info;
  numbered.number = std::max(info.number, state_->session + 1);
  auto const payload = encode_session_start(numbered);
  if (!payload) return fail(payload.error());
  state_->bytes_before = state_->file.size_bytes();
  state_->entries_before = state_->entries.size();
  state_->facts_before = state_->fact_offsets.size();
  auto const added = state_->add_fact(RecordKind::kSessionStart, *payload);
  if (!added) return fail(added.error());
  state_->session = numbered.number;
  state_->in_session = true;
  return numbered.number;
}

Result<void> ArchiveWriter::end_session() {
  invariant(state_->in_session, "no session to end");
  auto const added = state_->add_fact(RecordKind::kSessionEnd, encode_session_end(state_->session));
  if (!added) return fail(added.error());
  state_->in_session = false;
  return state_->sync();
}

Result<void> ArchiveWriter::drop_session() {
  invariant(state_->in_session, "no session to drop");
  state_->in_session = false;
  state_->bodies.clear();  // some of them are removed
  state_->entries.resize(state_->entries_before);
  state_->fact_offsets.resize(state_->facts_before);
  return state_->file.truncate(state_->bytes_before);
}

Result<void> ArchiveWriter::add_connection(ConnectionFacts facts) {
  invariant(state_->in_session, "a connection outside a session");
  facts.session = state_->session;
  auto const payload = encode_connection(facts);
  if (!payload) return fail(payload.error());
  auto const added = state_->add_fact(RecordKind::kConnection, *payload);
  if (!added) return fail(added.error());
  return {};
}

Result<void> ArchiveWriter::add_answer(DnsAnswer answer) {
  invariant(state_->in_session, "a DNS answer outside a session");
  answer.session = state_->session;
  auto const payload = encode_dns_answer(answer);
  if (!payload) return fail(payload.error());
  auto const added = state_->add_fact(RecordKind::kDnsAnswer, *payload);
  if (!added) return fail(added.error());
  return {};
}

Result<void> ArchiveWriter::add_exchange(Exchange exchange) {
  invariant(state_->in_session, "an exchange outside a session");
  if (state_->entries.size() == kExchangesMax) return fail(archive_errc::too_large);
  exchange.session = state_->session;
  auto const payload = encode_exchange(exchange);
  if (!payload) return fail(payload.error());
  auto const offset = state_->file.append(
      {.kind = RecordKind::kExchange, .pieces = {std::as_bytes(std::span(*payload))}});
  if (!offset) return fail(offset.error());
  state_->entries.push_back(entry_of(exchange, *offset));
  return state_->sync();
}

Result<void> ArchiveWriter::add_message(std::uint64_t sequence, const WebSocketMessage& message) {
  invariant(state_->in_session, "a message outside a session");
  if (message.payload.size() > kMessageBytesMax || state_->fact_offsets.size() == kFactsMax) {
    return fail(archive_errc::too_large);
  }
  auto const prefix =
      encode_message_prefix({.session = state_->session, .sequence = sequence}, message);
  auto const offset = state_->file.append(
      {.kind = RecordKind::kWebSocketMessage, .pieces = {prefix, message.payload}});
  if (!offset) return fail(offset.error());
  state_->fact_offsets.push_back(*offset);
  return {};
}

/// Appends the match index, and records it in `index`. The archive has no index if it cannot be
/// made (the file cannot be mapped) or is too large: a replay then makes it.
Result<void> ArchiveWriter::State::add_match_index(std::vector<std::byte>& index) {
  if (entries.empty()) return {};
  auto records = file.map();
  if (!records) return {};
  auto const reader = ArchiveReader::over_records(std::move(*records), index);
  auto const match_index = build_match_index(*reader);
  if (match_index.size() > kMatchIndexBytesMax) return {};
  auto const added = file.append({.kind = RecordKind::kIndex, .pieces = {match_index}});
  if (!added) return fail(added.error());
  note_match_index(index, record_bytes(match_index.size()));
  return {};
}

Result<void> ArchiveWriter::close() {
  auto index = build_index(state_->entries, state_->fact_offsets);
  if (auto added = state_->add_match_index(index); !added) return added;
  auto const index_offset = state_->file.size_bytes();
  auto const is_first = index_offset == kFileHeaderBytes;
  auto const first_crc =
      is_first ? Result<std::uint32_t>(crc32c(index)) : state_->file.first_payload_crc();
  if (!first_crc) return fail(first_crc.error());
  std::array<std::byte, kTrailerPayloadBytes> trailer{};
  store_u64(trailer.data(), index_offset);
  store_u64(trailer.data() + 8, *first_crc);
  std::array const records = {RecordParts{.kind = RecordKind::kIndex, .pieces = {index}},
                              RecordParts{.kind = RecordKind::kTrailer, .pieces = {trailer}}};
  if (auto written = state_->file.append(records); !written) return fail(written.error());
  auto const synced = state_->sync();
  auto const removed = state_->file.is_removed();
  state_->file.close();
  if (!synced) return synced;
  if (!removed) return fail(removed.error());
  if (*removed) return fail(archive_errc::removed);
  return {};
}

std::optional<std::uint32_t> ArchiveWriter::session() const {
  return state_->in_session ? std::optional(state_->session) : std::nullopt;
}
std::uint64_t ArchiveWriter::size_bytes() const {
  return state_->file.size_bytes();
}
std::uint64_t ArchiveWriter::exchange_count() const {
  return state_->entries.size();
}

}  // namespace reprise
