#pragma once

// Which recorded exchange answers a request. Pure: an archive, a query and the session's cursors
// in, a decision with its reason out. Never touches the network or the clock.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"
#include "archive/invariant.h"
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
/// session.
class SequenceCursors {
 public:
  /// `entry_count`: that of the archive, reader.entries().size().
  explicit SequenceCursors(std::size_t entry_count) : taken_(entry_count) {}
  /// Starts every sequence again.
  void reset();

 private:
  friend class Matcher;
  /// At the ordinal where a sequence starts: how far behind it the next answer is looked for. Zero
  /// while it was never asked; else the last answer was at that distance less one.
  std::vector<std::atomic<std::uint32_t>> taken_;
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

/// Thread-safe.
class Matcher {
 public:
  static constexpr std::size_t kNearMissesMax = 5;
  static constexpr std::size_t kCandidatesMax = 256;

  /// Answers from `session` of `reader` (which must outlive this); 0 means the last complete
  /// session, or the last one when none is complete. Takes four bytes an entry.
  Matcher(const ArchiveReader& reader, std::uint32_t session);

  std::uint32_t session() const { return session_; }

  /// The next exchange of the recorded sequence of `key`, the last one repeating. Only complete
  /// exchanges answer. Cost grows neither with the archive nor with the sequence; allocates nothing
  /// when `exchanges` is decoded already.
  ///
  /// `same_key(ordinal)` says whether that exchange's key equals `key` in full: the index knows
  /// hashes only, and the caller keeps decoded exchanges. It is asked about at most kCandidatesMax
  /// others that merely share the hash.
  template <class SameKey>
  Decision match(const MatchKey& key, SequenceCursors& cursors, SameKey&& same_key) const;

  /// Explains a miss: at most kNearMissesMax exchanges of the same host and path, nearest first,
  /// out of at most kCandidatesMax looked at. An exchange that shares the whole key is listed when
  /// it belongs to another session or was cut.
  std::vector<NearMiss> nearest(const MatchKey& key) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t choose_session() const;
  /// The first ordinal that may answer a key of that hash, or kNone.
  std::uint32_t first_answer(std::uint64_t hash) const;
  /// The next one of the same hash, or kNone.
  std::uint32_t next_answer_after(std::uint32_t ordinal) const {
    auto const all = reader_->entries();
    auto const next = ordinal + 1;
    if (next >= all.size() || all[next].key_hash != all[ordinal].key_hash) return kNone;
    return next_answer_[next];
  }
  /// The first one from `ordinal` on, in the same run of equal hashes, whose key is the same.
  template <class SameKey>
  std::uint32_t seek(std::uint32_t ordinal, SameKey& same_key) const;

  const ArchiveReader* reader_;
  std::uint32_t session_ = 0;
  /// For each ordinal the next one, itself included, of the same hash that is of this session and
  /// complete; kNone when there is none. Keeps long runs of what cannot answer from being walked.
  std::vector<std::uint32_t> next_answer_;
};

template <class SameKey>
std::uint32_t Matcher::seek(std::uint32_t ordinal, SameKey& same_key) const {
  for (std::size_t tried = 0; ordinal != kNone && tried <= kCandidatesMax; ++tried) {
    if (same_key(ordinal)) return ordinal;
    ordinal = next_answer_after(ordinal);
  }
  return kNone;
}

template <class SameKey>
Decision Matcher::match(const MatchKey& key, SequenceCursors& cursors, SameKey&& same_key) const {
  invariant(cursors.taken_.size() == next_answer_.size(), "cursors of another archive");
  auto const start = seek(first_answer(key_hash(key)), same_key);
  if (start == kNone) return {};
  auto& taken = cursors.taken_[start];
  auto seen = taken.load(std::memory_order_relaxed);
  while (true) {
    auto const next = seen == 0 ? start : seek(next_answer_after(start + seen - 1), same_key);
    if (next == kNone) return {.kind = MatchKind::kExact, .ordinal = start + seen - 1};
    // Another thread may have been given this one in the meantime: then the one after it.
    if (taken.compare_exchange_weak(seen, next - start + 1, std::memory_order_relaxed)) {
      return {.kind = MatchKind::kExact, .ordinal = next};
    }
  }
}

}  // namespace reprise
