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

/// One line of the index, laid out in the file as it is here (little endian, FORMAT.md). Sorted by
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

/// How the file was found to be when it was opened.
struct OpenReport {
  bool indexed = false;               ///< false: there was no usable index and the file was scanned
  std::uint64_t tail_lost_bytes = 0;  ///< torn at the end, from the first record that is not whole
  bool tail_damaged = false;  ///< that tail is no write cut short: `repair`, as append() refuses
  std::uint64_t damaged_records = 0;  ///< records inside the file whose checksum failed
  std::vector<std::string> remarks;   ///< one sentence each, for people
};

/// Reads one archive. The file is mapped; only what is asked for is touched, and every record is
/// checked against its checksum before any of it is given out. Immutable after open(), so
/// thread-safe. A shared lock keeps writers off. Input is hostile: offsets and lengths are checked.
///
/// If the file is truncated underneath by somebody who ignores the lock, touching the map raises
/// SIGBUS; programs install a handler.
class ArchiveReader {
 public:
  /// What decoded sessions, connections and DNS answers may take in memory.
  static constexpr std::size_t kFactsMemoryMax = 256 << 20;

  struct Options {
    bool lock = true;
    bool populate = false;  ///< read the whole file into memory now, if it is small enough
  };

  /// Errors: not_an_archive, newer_version, corrupt (the header), locked, or open(2)'s.
  /// A torn or damaged file opens; report() says what was lost.
  static Result<std::unique_ptr<ArchiveReader>> open(const std::filesystem::path& path,
                                                     Options options);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  const OpenReport& report() const;
  std::uint64_t size_bytes() const;

  /// All entries in key order. Positions in this span name exchanges ("ordinals").
  std::span<const IndexEntry> entries() const;
  /// The entries of one key, a subrange of entries(); cost does not grow with the archive.
  std::span<const IndexEntry> find_key(std::uint64_t key_hash) const;
  /// Calls `visit` with the ordinals of all entries of one path hash until it returns false.
  void visit_path(std::uint64_t path_hash, const std::function<bool(std::uint32_t)>& visit) const;
  /// What the file holds to find the best match with (match_index.h): checked against its checksum,
  /// aligned to 8 bytes, valid while this reader lives; empty when there is none.
  std::span<const std::byte> match_index() const;
  /// Ordinals in (session, sequence) order: what `ls` shows. Built on each call.
  std::vector<std::uint32_t> ordinals_in_order() const;

  /// Decodes one exchange. Errors: corrupt.
  Result<Exchange> exchange(std::uint32_t ordinal) const;
  /// The least of it, for those who look at all: a tenth of the time. Valid while this reader
  /// lives. Errors: corrupt.
  Result<ExchangeSite> site(std::uint32_t ordinal) const;

  /// The bytes of one extent, straight from the map, valid while this reader lives.
  /// Checks the record's checksum and that it belongs to the body. Errors: corrupt.
  Result<std::span<const std::byte>> extent(const StoredBody& body, std::size_t index) const;
  /// Where bytes that extent() gave out lie in the file, for sendfile(2).
  struct Place {
    int file = -1;  ///< borrowed, open while this reader lives
    std::int64_t offset = 0;
  };
  Place place_of(std::span<const std::byte> bytes) const;
  /// The whole body in one piece, digest checked. Errors: corrupt; too_large over `limit_bytes`.
  Result<std::vector<std::byte>> read_body(const StoredBody& body, std::uint64_t limit_bytes) const;

  /// Checks a whole body, its digest too, holding none of it. Errors: corrupt.
  Result<void> check_body(const StoredBody& body) const;

  /// Decoded at open, in file order. Those past kFactsMemoryMax, and the messages behind them, are
  /// left out, with a remark.
  const std::vector<SessionInfo>& sessions() const;
  const std::vector<ConnectionFacts>& connections() const;
  const std::vector<DnsAnswer>& answers() const;

  /// Where the messages of a WebSocket lie, in recorded order; empty when there are none.
  struct MessagePlace {
    MessageOwner owner;
    std::uint64_t record_offset = 0;
  };
  std::span<const MessagePlace> messages(const MessageOwner& owner) const;
  /// All of them, by owner.
  std::span<const MessagePlace> messages() const;
  /// One message, its payload straight from the map. Errors: corrupt.
  Result<WebSocketMessage> message(const MessagePlace& place) const;

  /// The offsets of the session, connection, DNS answer and message records, in file order.
  std::span<const std::uint64_t> fact_offsets() const;
  /// Where an append goes on: behind the last whole record, index and trailer not counted.
  std::uint64_t records_end() const;

  /// Checks every record and every body against its digest. Reports problems, one sentence each,
  /// through `problem`; `progress` gets (done, total) bytes. A file that was not closed, or whose
  /// last record was cut short, is no problem: report() has it. Returns the number of problems.
  std::uint64_t verify(const std::function<void(const std::string&)>& problem,
                       const std::function<void(std::uint64_t, std::uint64_t)>& progress) const;

 private:
  friend class ArchiveWriter;  // cuts the file off behind the records, and reads on before that
  struct State;
  explicit ArchiveReader(std::unique_ptr<State> state);
  /// Over records that are not closed yet: `index` is what will close them.
  static std::unique_ptr<ArchiveReader> over_records(MappedFile records,
                                                     std::vector<std::byte> index);
  std::unique_ptr<State> state_;
};

}  // namespace reprise
