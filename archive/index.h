#pragma once

// The index of an archive: which exchange lies where, by key and by path. Built from entries, or
// used straight from the map of a closed file. Pure. Layout: archive/FORMAT.md. Input is hostile.

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

/// The payload of an index record. `entries` come in any order; `fact_offsets` are the offsets of
/// the session, connection, DNS answer and message records in file order. At most kExchangesMax and
/// kFactsMax.
std::vector<std::byte> build_index(std::vector<IndexEntry> entries,
                                   std::span<const std::uint64_t> fact_offsets);

/// Notes in an index that a match index stands directly before it, as a record of that size
/// (header and padding included).
void note_match_index(std::span<std::byte> index, std::uint64_t record_bytes);

/// An index in memory that somebody else owns.
class IndexView {
 public:
  IndexView() = default;
  /// Nothing when a count, a bound or an order does not hold. `payload` is aligned to 8 bytes and
  /// stays; `file_bytes` is what offsets must lie in.
  static std::optional<IndexView> parse(Bytes payload, std::uint64_t file_bytes);

  std::span<const std::uint64_t> fact_offsets() const { return facts_; }
  /// The size of the record before this one, when that is a match index; else 0.
  std::uint64_t match_index_record_bytes() const { return match_index_record_bytes_; }
  std::span<const IndexEntry> entries() const { return entries_; }
  std::span<const IndexEntry> find_key(std::uint64_t key_hash) const;
  void visit_path(std::uint64_t path_hash, const std::function<bool(std::uint32_t)>& visit) const;

  /// What find_key() searches: the entries whose hashes begin alike, about one, however many
  /// entries there are.
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
