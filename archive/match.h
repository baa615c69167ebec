#pragma once

// Which recorded exchange answers a request. Pure: an archive, a query and the session's cursors in,
// a decision with its reason out. Never touches the network or the clock.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"
#include "archive/reader.h"

namespace reprise {

/// What identifies a request. Borrows its text.
struct MatchKey {
  std::string_view method;
  Scheme scheme = Scheme::kHttp;
  std::string_view host;  ///< lower case
  std::uint16_t port = 0;
  std::string_view target;  ///< path and query
  Sha256 body_digest{};     ///< all zero for no body
};

MatchKey key_of(const StoredRequest& request);

/// Hash of the whole key, as the index holds it. FORMAT.md defines it.
std::uint64_t key_hash(const MatchKey& key);
/// Hash of host and path alone (no scheme, port, method, query or body): finds near misses.
std::uint64_t path_hash(std::string_view host, std::string_view target);

/// How far a client session has come in each recorded sequence. Thread-safe; one per client
/// session, made by Matcher.
class SequenceCursors {
 public:
  explicit SequenceCursors(std::size_t entry_count);
  /// Starts every sequence again.
  void reset();

 private:
  friend class Matcher;
  std::vector<std::atomic<std::uint32_t>> next_;
};

enum class MatchKind : std::uint8_t { kExact, kMiss };

/// A recorded exchange that came near, and why it is not the answer.
struct NearMiss {
  std::uint32_t ordinal = 0;
  std::string url;
  std::string why;
};

struct Decision {
  MatchKind kind = MatchKind::kMiss;
  std::uint32_t ordinal = 0;  ///< position in reader.entries(), when not a miss
};

class Matcher {
 public:
  static constexpr std::size_t kNearMissesMax = 5;
  static constexpr std::size_t kCandidatesMax = 256;

  /// Answers from `session` of `reader` (which must outlive this); 0 means the last complete
  /// session, or the last one when none is complete.
  Matcher(const ArchiveReader& reader, std::uint32_t session);

  std::uint32_t session() const { return session_; }

  /// The next exchange of the recorded sequence of `key`, the last one repeating. Only complete
  /// exchanges answer. Cost does not grow with the archive; allocates nothing when `exchanges` is
  /// decoded already.
  ///
  /// `same_key(ordinal)` says whether that exchange's key equals `key` in full: the index knows
  /// hashes only, and the caller keeps decoded exchanges.
  template <class SameKey>
  Decision match(const MatchKey& key, SequenceCursors& cursors, SameKey&& same_key) const;

  /// Explains a miss: at most kNearMissesMax exchanges of the same host and path, nearest first,
  /// out of at most kCandidatesMax looked at.
  std::vector<NearMiss> nearest(const MatchKey& key) const;

 private:
  const ArchiveReader* reader_;
  std::uint32_t session_ = 0;
};

template <class SameKey>
Decision Matcher::match(const MatchKey& key, SequenceCursors& cursors, SameKey&& same_key) const {
  auto const all = reader_->entries();
  auto const found = reader_->find_key(key_hash(key));
  std::uint32_t sequence_start = 0;
  std::uint32_t answers = 0;
  std::uint32_t skip = 0;
  std::uint32_t chosen = 0;
  for (const IndexEntry& entry : found) {
    if (entry.session != session_ || entry.outcome != Outcome::kComplete) continue;
    auto const ordinal = static_cast<std::uint32_t>(&entry - all.data());
    if (!same_key(ordinal)) continue;
    if (answers == 0) {
      sequence_start = ordinal;
      skip = cursors.next_[sequence_start].fetch_add(1, std::memory_order_relaxed);
    }
    chosen = ordinal;
    ++answers;
    if (answers > skip) break;
  }
  if (answers == 0) return {};
  return {.kind = MatchKind::kExact, .ordinal = chosen};
}

}  // namespace reprise
