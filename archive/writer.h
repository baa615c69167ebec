#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "archive/error.h"
#include "archive/exchange.h"
#include "archive/web_socket.h"
#include "base/result.h"

namespace reprise {

class ArchiveWriter;

/// Stores one body as it arrives. It is held in memory up to kSmallBodyBytesMax (and while all held
/// bodies together stay under kHeldBodyBytesMax), then written as chunk records. Dropping it
/// unfinished leaves at most unreferenced chunks. Must not outlive its writer.
class BodyWriter {
 public:
  explicit BodyWriter(ArchiveWriter& writer);
  ~BodyWriter();
  BodyWriter(BodyWriter&&) noexcept;
  BodyWriter& operator=(BodyWriter&&) = delete;

  /// Adds bytes. Errors: the system error of write(2); the body is then lost.
  Result<void> append(std::span<const std::byte> bytes);

  /// Ends the body: when it returns, every byte has passed write(2). A body of the same digest
  /// that is already in the archive is referenced, not written again.
  Result<StoredBody> finish();

  std::uint64_t size_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Appends to one archive file. Not thread-safe; one writer per file (an exclusive lock is held).
/// Data of a successful call has passed write(2): it survives the process. A call that fails (a
/// full disk) cuts the file back to its last complete record. Format: archive/FORMAT.md.
class ArchiveWriter {
 public:
  static constexpr std::size_t kSmallBodyBytesMax = 1 << 20;
  static constexpr std::size_t kHeldBodyBytesMax = 32 << 20;
  static constexpr std::size_t kChunkBytes = 256 << 10;

  struct Options {
    bool fsync = false;  ///< fsync(2) after every exchange and at close
  };

  /// Creates a new file, mode 0600. Errors: already_exists, the system error of open(2).
  static Result<std::unique_ptr<ArchiveWriter>> create(const std::filesystem::path& path,
                                                       Options options);
  /// Opens an existing archive to add sessions: the first write cuts off its index (close() writes
  /// a new one) and a torn tail. Errors: those of ArchiveReader::open; locked; corrupt if the part
  /// to cut off is not merely torn, or is what leads past damage, or if the new index would lack
  /// damaged records (repair_archive() keeps a copy).
  static Result<std::unique_ptr<ArchiveWriter>> append(const std::filesystem::path& path,
                                                       Options options);
  ~ArchiveWriter();
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  /// Starts the next session and returns its number. Everything added belongs to it. `info.number`
  /// is kept if it is higher than all before (a copy keeps its numbers), and otherwise assigned.
  Result<std::uint32_t> begin_session(const SessionInfo& info);
  /// Marks the current session complete.
  Result<void> end_session();
  /// Removes the current session with everything added to it, which restores the archive as of
  /// begin_session(). No BodyWriter may be in use.
  Result<void> drop_session();

  /// The number of the current session; nothing outside of one, where nothing can be added.
  std::optional<std::uint32_t> session() const;

  /// Fills in `facts.session`.
  Result<void> add_connection(ConnectionFacts facts);
  /// Fills in `answer.session`. Errors: too_large over the format's limits; write(2).
  Result<void> add_answer(DnsAnswer answer);
  /// Fills in `exchange.session`. Bodies must come from this writer's BodyWriter. Errors: too_large
  /// if heads exceed the format's record limit; write(2).
  Result<void> add_exchange(Exchange exchange);

  /// Adds a message to the WebSocket opened by the exchange with that number in the current
  /// session, after its earlier messages. Errors: too_large (over kMessageBytesMax, or more than an
  /// index holds); write(2)'s.
  Result<void> add_message(std::uint64_t sequence, const WebSocketMessage& message);

  /// Writes index and trailer and releases the lock; nothing can be added afterwards. A file that
  /// was not closed is complete, but is scanned at open.
  Result<void> close();

  /// A body that is stored already; nothing if none with that digest and size is.
  std::optional<StoredBody> known_body(const Sha256& digest, std::uint64_t size_bytes);

  std::uint64_t size_bytes() const;
  std::uint64_t exchange_count() const;

 private:
  friend class BodyWriter;
  struct State;
  explicit ArchiveWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace reprise
