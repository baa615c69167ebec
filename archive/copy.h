#pragma once

#include <cstdint>
#include <vector>

#include "archive/exchange.h"
#include "archive/reader.h"
#include "archive/writer.h"
#include "base/result.h"

namespace reprise {

/// All that an archive holds of one session. Borrows from its reader.
struct SessionContents {
  SessionInfo info;  ///< of a session whose start is lost only the number is known
  std::vector<const ConnectionFacts*> connections;
  std::vector<const DnsAnswer*> answers;
  std::vector<std::uint32_t> ordinals;  ///< of its exchanges, in file order
};

/// By session number, also of sessions of which only exchanges or facts are left.
std::vector<SessionContents> contents_of(const ArchiveReader& reader);

/// Copies a body as it is, an extent at a time. Errors: corrupt (its bytes are not those that its
/// digest promises); write(2)'s.
Result<StoredBody> copy_body(const ArchiveReader& from, const StoredBody& body, ArchiveWriter& to);

/// Copies an archive into another, in bounded memory. As it is here everything is copied as it was:
/// sessions keep their numbers, exchanges all that is known of them, equal bodies are stored once.
/// What derives from it says what becomes something else.
class ArchiveCopy {
 public:
  /// Both must outlive this.
  ArchiveCopy(const ArchiveReader& from, ArchiveWriter& to) : from_(from), to_(to) {}
  virtual ~ArchiveCopy() = default;
  ArchiveCopy(const ArchiveCopy&) = delete;
  ArchiveCopy& operator=(const ArchiveCopy&) = delete;

  /// Every session. Errors: corrupt when an exchange or its body is damaged; the writer's.
  Result<void> run();
  /// One of them, as a session of its own.
  Result<void> copy_session(const SessionContents& session);
  /// Connections, answers and exchanges, into the session that is open.
  Result<void> copy_contents(const SessionContents& session);

 protected:
  /// What is left out.
  virtual bool takes_session(const SessionContents&) const { return true; }
  virtual bool takes_connection(const ConnectionFacts&) const { return true; }
  virtual bool takes_answer(const DnsAnswer&) const { return true; }
  virtual bool takes_exchange(std::uint32_t /*ordinal*/) const { return true; }

  /// What is changed on the way.
  virtual void change_session(SessionInfo&) {}
  virtual Result<void> change_connection(ConnectionFacts&) { return {}; }
  virtual Result<void> change_answer(DnsAnswer&) { return {}; }
  /// Makes an exchange of the source one of the target, whose bodies lie there.
  virtual Result<void> carry(std::uint32_t ordinal, Exchange& exchange);
  /// Both bodies, as they are.
  Result<void> carry_bodies(Exchange& exchange);

  /// A message of a WebSocket on its way behind `exchange`, which was carried. What a change makes
  /// of the payload goes into `storage`.
  virtual Result<void> change_message(const Exchange& /*exchange*/, WebSocketMessage& /*message*/,
                                      std::vector<std::byte>& /*storage*/) {
    return {};
  }
  /// Called when a message is damaged; without an error the copy goes on without it.
  virtual Result<void> on_damaged_message(const MessageOwner&) {
    return fail(archive_errc::corrupt);
  }

  /// Called when carry(), or reading the exchange, ended with corrupt; without an error the copy
  /// goes on without that exchange.
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
