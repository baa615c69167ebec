#pragma once

#include <cstdint>
#include <vector>

#include "archive/exchange.h"
#include "archive/reader.h"
#include "archive/writer.h"
#include "base/result.h"

namespace reprise {

/// The contents of one session of an archive. Borrows from its reader.
struct SessionContents {
  SessionInfo info;  ///< only the number and `complete` are known if the session's start is lost
  std::vector<const ConnectionFacts*> connections;
  std::vector<const DnsAnswer*> answers;
  std::vector<std::uint32_t> ordinals;  ///< of its exchanges, in file order
};

/// Ordered by session number; includes sessions of which only exchanges, facts or the end are left.
std::vector<SessionContents> contents_of(const ArchiveReader& reader);

/// Copies a body unchanged, extent by extent. Errors: corrupt (its bytes do not match its digest);
/// write(2)'s.
Result<StoredBody> copy_body(const ArchiveReader& from, const StoredBody& body, ArchiveWriter& to);

/// Copies an archive into another, in bounded memory. This class copies everything unchanged:
/// sessions keep their numbers, exchanges all their data, and equal bodies are stored once. Derived
/// classes change or drop parts.
class ArchiveCopy {
 public:
  /// Both must outlive this.
  ArchiveCopy(const ArchiveReader& from, ArchiveWriter& to) : from_(from), to_(to) {}
  virtual ~ArchiveCopy() = default;
  ArchiveCopy(const ArchiveCopy&) = delete;
  ArchiveCopy& operator=(const ArchiveCopy&) = delete;

  /// Copies every session. Errors: corrupt if an exchange or its body is damaged; too_large if the
  /// reader ignored some facts; the writer's.
  Result<void> run();
  /// Copies one session, as a new session of the target.
  Result<void> copy_session(const SessionContents& session);
  /// Copies connections, answers and exchanges to the open session of the target.
  Result<void> copy_contents(const SessionContents& session);

 protected:
  /// Decides what is dropped.
  virtual bool takes_session(const SessionContents&) const { return true; }
  virtual bool takes_connection(const ConnectionFacts&) const { return true; }
  virtual bool takes_answer(const DnsAnswer&) const { return true; }
  virtual bool takes_exchange(std::uint32_t /*ordinal*/) const { return true; }

  /// Changes a part during the copy.
  virtual void change_session(SessionInfo&) {}
  virtual Result<void> change_connection(ConnectionFacts&) { return {}; }
  virtual Result<void> change_answer(DnsAnswer&) { return {}; }
  /// Converts an exchange of the source for the target, with bodies stored in the target.
  virtual Result<void> carry(std::uint32_t ordinal, Exchange& exchange);
  /// Copies both bodies unchanged.
  Result<void> carry_bodies(Exchange& exchange);

  /// Changes a WebSocket message of `exchange`, which has been copied. `storage` holds a changed
  /// payload.
  virtual Result<void> change_message(const Exchange& /*exchange*/, WebSocketMessage& /*message*/,
                                      std::vector<std::byte>& /*storage*/) {
    return {};
  }
  /// Called for a damaged message; if it returns no error, the copy continues without the message.
  virtual Result<void> on_damaged_message(const MessageOwner&) {
    return fail(archive_errc::corrupt);
  }

  /// Called when carry(), or reading the exchange, fails with corrupt; if it returns no error, the
  /// copy continues without that exchange.
  virtual Result<void> on_damaged(std::uint32_t ordinal);

  const ArchiveReader& from() const { return from_; }
  ArchiveWriter& to() const { return to_; }

 private:
  Result<void> copy_exchange(std::uint32_t ordinal);
  Result<void> copy_messages(const MessageOwner& owner, const Exchange& carried);

  const ArchiveReader& from_;
  ArchiveWriter& to_;
};

}  // namespace reprise
