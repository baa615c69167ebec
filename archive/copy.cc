#include "archive/copy.h"

#include <algorithm>
#include <map>
#include <utility>

namespace reprise {

std::vector<SessionContents> contents_of(const ArchiveReader& reader) {
  std::map<std::uint32_t, SessionContents> sessions;
  for (const SessionInfo& info : reader.sessions()) {
    sessions[info.number].info = info;
  }
  for (auto const number : reader.ended_without_start()) {
    sessions[number].info.complete = true;
  }
  for (const ConnectionFacts& facts : reader.connections()) {
    sessions[facts.session].connections.push_back(&facts);
  }
  for (const DnsAnswer& answer : reader.answers()) {
    sessions[answer.session].answers.push_back(&answer);
  }
  auto const entries = reader.entries();
  for (std::uint32_t ordinal = 0; ordinal < entries.size(); ++ordinal) {
    sessions[entries[ordinal].session].ordinals.push_back(ordinal);
  }
  std::vector<SessionContents> contents;
  for (auto& [number, session] : sessions) {
    // A session without its own record keeps its number, which its exchanges need.
    session.info.number = number;
    std::ranges::sort(session.ordinals, {},
                      [entries](std::uint32_t ordinal) { return entries[ordinal].record_offset; });
    contents.push_back(std::move(session));
  }
  return contents;
}

Result<StoredBody> copy_body(const ArchiveReader& from, const StoredBody& body, ArchiveWriter& to) {
  if (auto known = to.known_body(body.digest, body.size_bytes)) return std::move(*known);
  BodyWriter writer(to);
  for (std::size_t i = 0; i < body.extents.size(); ++i) {
    auto const piece = from.extent(body, i);
    if (!piece) return fail(piece.error());
    if (auto appended = writer.append(*piece); !appended) return fail(appended.error());
  }
  auto stored = writer.finish();
  if (stored && (stored->size_bytes != body.size_bytes || stored->digest != body.digest)) {
    return fail(archive_errc::corrupt);
  }
  return stored;
}

Result<void> ArchiveCopy::run() {
  for (const SessionContents& session : contents_of(from_)) {
    if (!takes_session(session)) continue;
    if (auto copied = copy_session(session); !copied) return copied;
  }
  return {};
}

Result<void> ArchiveCopy::copy_session(const SessionContents& session) {
  auto info = session.info;
  change_session(info);
  if (auto begun = to_.begin_session(info); !begun) return fail(begun.error());
  if (auto copied = copy_contents(session); !copied) return copied;
  return info.complete ? to_.end_session() : Result<void>();
}

Result<void> ArchiveCopy::copy_contents(const SessionContents& session) {
  if (from_.report().facts_ignored) return fail(archive_errc::too_large);
  for (const ConnectionFacts* facts : session.connections) {
    if (!takes_connection(*facts)) continue;
    auto changed = *facts;
    if (auto done = change_connection(changed); !done) return done;
    if (auto added = to_.add_connection(std::move(changed)); !added) return added;
  }
  for (const DnsAnswer* answer : session.answers) {
    if (!takes_answer(*answer)) continue;
    auto changed = *answer;
    if (auto done = change_answer(changed); !done) return done;
    if (auto added = to_.add_answer(std::move(changed)); !added) return added;
  }
  for (auto const ordinal : session.ordinals) {
    if (!takes_exchange(ordinal)) continue;
    if (auto copied = copy_exchange(ordinal); !copied) return copied;
  }
  return {};
}

Result<void> ArchiveCopy::copy_exchange(std::uint32_t ordinal) {
  auto exchange = from_.exchange(ordinal);
  auto const carried = exchange ? carry(ordinal, *exchange) : fail(exchange.error());
  if (!carried && carried.error() == archive_errc::corrupt) return on_damaged(ordinal);
  if (!carried) return carried;
  if (auto added = to_.add_exchange(*exchange); !added) return added;
  auto const& entry = from_.entries()[ordinal];
  return copy_messages({.session = entry.session, .sequence = entry.sequence}, *exchange);
}

Result<void> ArchiveCopy::copy_messages(const MessageOwner& owner, const Exchange& carried) {
  for (auto const& place : from_.messages(owner)) {
    auto message = from_.message(place);
    if (!message) {
      if (auto goes_on = on_damaged_message(owner); !goes_on) return goes_on;
      continue;
    }
    std::vector<std::byte> storage;
    if (auto changed = change_message(carried, *message, storage); !changed) return changed;
    if (auto added = to_.add_message(carried.sequence, *message); !added) return added;
  }
  return {};
}

Result<void> ArchiveCopy::carry(std::uint32_t /*ordinal*/, Exchange& exchange) {
  return carry_bodies(exchange);
}

Result<void> ArchiveCopy::carry_bodies(Exchange& exchange) {
  for (auto* body : {&exchange.request.body, &exchange.response.body}) {
    auto copied = copy_body(from_, *body, to_);
    if (!copied) return fail(copied.error());
    *body = std::move(*copied);
  }
  return {};
}

Result<void> ArchiveCopy::on_damaged(std::uint32_t /*ordinal*/) {
  return fail(archive_errc::corrupt);
}

}  // namespace reprise
