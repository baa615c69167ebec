#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "archive/error.h"
#include "archive/exchange.h"
#include "archive/exchange_site.h"
#include "archive/web_socket.h"
#include "base/result.h"

namespace reprise {

class MappedFile;

/// One line of the index, in the layout of the file (little endian, FORMAT.md). Sorted by
/// (key_hash, session, sequence).
struct IndexEntry {
  std::uint64_t key_hash;   ///< archive/match/match.h: key_hash()
  std::uint64_t path_hash;  ///< archive/match/match.h: path_hash()
  std::uint64_t record_offset;
  std::uint64_t sequence;
  std::uint32_t session;
  Outcome outcome;
  std::uint8_t reserved[3];
};
static_assert(sizeof(IndexEntry) == 40);

/// The state of the file when it was opened.
struct OpenReport {
  bool indexed = false;  ///< false: the file was scanned, because it has no usable index
  std::uint64_t tail_lost_bytes = 0;  ///< at the end, from the first incomplete record
  bool tail_damaged = false;  ///< not just an unfinished write: append() refuses, `repair` helps
  /// Inside the file, with a wrong checksum. Without an index, append() refuses these, too.
  std::uint64_t damaged_records = 0;
  std::uint64_t damaged_exchanges = 0;  ///< of these, exchanges that entries() lacks
  /// Sessions, connections, DNS answers or messages are not loaded, as those before them fill the
  /// memory: the file is whole, but no copy of it would be.
  bool facts_ignored = false;
  std::vector<std::string> remarks;  ///< one sentence each, for users

  /// Whether a copy lacks records, as far as opening shows, and not just an unfinished write at
  /// the end.
  bool is_damaged() const { return tail_damaged || damaged_records > 0; }
};

/// Reads one archive. The file is mapped; only requested parts are read, and every record is
/// checked against its checksum before any part of the record is returned. Immutable after open(),
/// so thread-safe. A shared lock excludes writers. Input is hostile: offsets and lengths are
/// checked.
///
/// If another process ignores the lock and truncates the file, access to the map raises SIGBUS;
/// programs install a handler.
class ArchiveReader {
 public:
  /// Memory limit for decoded sessions, connections and DNS answers.
  static constexpr std::size_t kFactsMemoryMax = 256 << 20;

  struct Options {
    bool lock = true;
    bool populate = false;  ///< read the whole file into memory now, if it is small enough
    std::size_t facts_memory_max = kFactsMemoryMax;
  };

  /// Errors: not_an_archive, newer_version, bad_header, locked, or open(2)'s.
  /// A torn or damaged file can be opened; report() lists the losses.
  static Result<std::unique_ptr<ArchiveReader>> open(const std::filesystem::path& path,
                                                     Options options);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  const OpenReport& report() const;
  std::uint64_t size_bytes() const;

  /// All entries in key order. A position in this span identifies an exchange ("ordinal").
  std::span<const IndexEntry> entries() const;
  /// The entries of one key, a subrange of entries(); the cost does not grow with the archive.
  std::span<const IndexEntry> find_key(std::uint64_t key_hash) const;
  /// Calls `visit` with the ordinals of all entries with one path hash until it returns false.
  void visit_path(std::uint64_t path_hash, const std::function<bool(std::uint32_t)>& visit) const;
  /// The file's index for the best match (match/index.h): checked against its checksum, aligned to
  /// 8 bytes, valid while this reader lives; empty without an index.
  std::span<const std::byte> match_index() const;
  /// Ordinals in (session, sequence) order, as in `ls`. Built on each call.
  std::vector<std::uint32_t> ordinals_in_order() const;

  /// Decodes one exchange. Errors: corrupt.
  Result<Exchange> exchange(std::uint32_t ordinal) const;
  /// Decodes only site and response version, in a tenth of the time; for loops over all exchanges.
  /// Valid while this reader lives. Errors: corrupt.
  Result<ExchangeSite> site(std::uint32_t ordinal) const;

  /// The bytes of one extent in the mapped file, valid while this reader lives. Checks the record's
  /// checksum and that it belongs to the body. Errors: corrupt.
  Result<std::span<const std::byte>> extent(const StoredBody& body, std::size_t index) const;
  /// The place in the file of bytes that extent() returned, for sendfile(2).
  struct Place {
    int file = -1;  ///< borrowed, open while this reader lives
    std::int64_t offset = 0;
  };
  Place place_of(std::span<const std::byte> bytes) const;
  /// The whole body in one piece, with its digest checked. Errors: corrupt; too_large over
  /// `limit_bytes`.
  Result<std::vector<std::byte>> read_body(const StoredBody& body, std::uint64_t limit_bytes) const;

  /// Checks a whole body, including its digest, without holding it. Errors: corrupt.
  Result<void> check_body(const StoredBody& body) const;

  /// Decoded at open, in file order. Records beyond the memory limit, and the messages after
  /// them, are ignored, with a remark: report().facts_ignored.
  const std::vector<SessionInfo>& sessions() const;
  /// The numbers of sessions that sessions() lacks, as their start is damaged, but whose end was
  /// recorded: they are complete.
  const std::vector<std::uint32_t>& ended_without_start() const;
  const std::vector<ConnectionFacts>& connections() const;
  const std::vector<DnsAnswer>& answers() const;

  /// The places of a WebSocket's messages, in recorded order; empty if there are none.
  struct MessagePlace {
    MessageOwner owner;
    std::uint64_t record_offset = 0;
  };
  std::span<const MessagePlace> messages(const MessageOwner& owner) const;
  /// All of them, by owner.
  std::span<const MessagePlace> messages() const;
  /// One message, with its payload in the mapped file. Errors: corrupt.
  Result<WebSocketMessage> message(const MessagePlace& place) const;

  /// The offsets of the session, connection, DNS answer and message records, in file order.
  std::span<const std::uint64_t> fact_offsets() const;
  /// Where an append continues: after the last complete record, before index and trailer.
  std::uint64_t records_end() const;

  /// Checks every record and every body against its digest. Reports problems, one sentence each,
  /// through `problem`; `progress` gets (done, total) bytes. A file that was not closed, or whose
  /// last record is incomplete, is not a problem: see report(). Returns the number of problems.
  std::uint64_t verify(const std::function<void(const std::string&)>& problem,
                       const std::function<void(std::uint64_t, std::uint64_t)>& progress) const;

 private:
  friend class ArchiveWriter;  // truncates the file after the records, and reads the records before
  struct State;
  explicit ArchiveReader(std::unique_ptr<State> state);
  /// For records of a file that is not closed yet: `index` is the one that will close it.
  static std::unique_ptr<ArchiveReader> over_records(MappedFile records,
                                                     std::vector<std::byte> index);
  std::unique_ptr<State> state_;
};

}  // namespace reprise
