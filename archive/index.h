#pragma once

// The index of an archive: the place of each exchange, by key and by path. Built from entries, or
// used directly from the mapping of a closed file. Pure. Layout: archive/FORMAT.md. Input is
// hostile.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "archive/reader.h"
#include "archive/record.h"

namespace reprise {

inline constexpr std::size_t kExchangesMax = 1 << 24;
inline constexpr std::size_t kFactsMax = 1 << 24;
inline constexpr std::size_t kIndexHeadBytes = 16;

/// The payload of an index record. `entries` can be in any order; `fact_offsets` are the offsets of
/// the session, connection, DNS answer and message records in file order. At most kExchangesMax and
/// kFactsMax.
std::vector<std::byte> build_index(std::vector<IndexEntry> entries,
                                   std::span<const std::uint64_t> fact_offsets);

/// Records in an index that a match index is directly before it, as a record of that size
/// (including header and padding).
void note_match_index(std::span<std::byte> index, std::uint64_t record_bytes);

/// An index in memory owned by the caller.
class IndexView {
 public:
  IndexView() = default;
  /// Nothing if a count, a bound or an order is invalid. `payload` is aligned to 8 bytes and must
  /// stay valid; `file_bytes`: the limit for offsets.
  static std::optional<IndexView> parse(Bytes payload, std::uint64_t file_bytes);

  std::span<const std::uint64_t> fact_offsets() const { return facts_; }
  /// The size of the record before this one if that is a match index; otherwise 0.
  std::uint64_t match_index_record_bytes() const { return match_index_record_bytes_; }
  std::span<const IndexEntry> entries() const { return entries_; }
  std::span<const IndexEntry> find_key(std::uint64_t key_hash) const;
  void visit_path(std::uint64_t path_hash, const std::function<bool(std::uint32_t)>& visit) const;

  /// The range that find_key() searches: the entries whose hashes begin alike, about one for any
  /// number of entries.
  std::span<const IndexEntry> bucket_of(std::uint64_t key_hash) const;

 private:
  std::pair<std::size_t, std::size_t> bounds(std::span<const std::uint32_t> directory,
                                             std::uint64_t hash) const;

  unsigned bucket_bits_ = 1;
  std::uint64_t match_index_record_bytes_ = 0;
  std::span<const std::uint64_t> facts_;
  std::span<const IndexEntry> entries_;
  std::span<const std::uint32_t> key_buckets_;
  std::span<const std::uint32_t> path_buckets_;
  std::span<const std::uint32_t> path_order_;
};

/// The order of entries in the index.
bool comes_before(const IndexEntry& a, const IndexEntry& b);

}  // namespace reprise
