#pragma once

// Which recorded exchange answers a request, and why: MATCHING.md. Pure: an archive, a request and
// the session's cursors in, a decision with its reason out. Never touches the network or the clock.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"
#include "archive/match/candidates.h"
#include "archive/match/index.h"
#include "archive/match/request.h"
#include "archive/match/sequence_cursors.h"
#include "archive/reader.h"
#include "base/invariant.h"

namespace reprise {

enum class MatchKind : std::uint8_t { kExact, kFuzzy, kMiss };

struct MatchRules {
  bool exact_only = false;
  std::vector<std::string> ignored_params;  ///< globs of parameter names (glob.h)
  /// Exchanges that were cut or failed answer, too: with what there is of them.
  bool failures = true;
};

/// A recorded exchange that came near, and why it is not the answer.
struct NearMiss {
  std::uint32_t ordinal = 0;
  std::string url;
  std::string why;
};

struct Decision {
  MatchKind kind = MatchKind::kMiss;
  std::uint32_t ordinal = 0;  ///< position in reader.entries(), when not a miss
  unsigned score = 0;         ///< percent; 100 when exact; of a miss the best that was found
  bool scheme_substituted = false;
  std::uint32_t candidates = 0;  ///< what it cost: exchanges scored
  std::uint32_t lists_read = 0;
};

/// The session that is replayed when none is named: the last complete one, else the last.
std::uint32_t session_to_replay(const ArchiveReader& reader);

/// Thread-safe.
class Matcher {
 public:
  static constexpr std::size_t kNearMissesMax = 5;
  static constexpr std::size_t kCandidatesMax = Candidates::kMax;
  /// The request of an ordinal, or null when it cannot be read. Who asks keeps what was decoded.
  using RequestOf = std::function<const StoredRequest*(std::uint32_t)>;

  /// Answers from `session` of `reader` (which must outlive this); 0 means session_to_replay().
  /// Takes twelve bytes an entry, and where the file has no match index, what that takes.
  Matcher(const ArchiveReader& reader, std::uint32_t session, MatchRules rules = {});

  std::uint32_t session() const { return session_; }
  const MatchRules& rules() const { return rules_; }
  /// By ordinal: whether it can be an answer at all.
  const std::vector<bool>& answering() const { return answering_; }
  /// Whether decide() looks into bodies; else their digests are enough.
  bool compares_bodies() const { return !rules_.exact_only || !rules_.ignored_params.empty(); }

  /// The best answer to `asked`. Allocates where it is not exact.
  Decision decide(const AskedRequest& asked, SequenceCursors& cursors,
                  const RequestOf& request_of) const;

  /// The first step of decide() alone: the next exchange of the recorded sequence of `key`, the
  /// last one repeating. Cost grows neither with the archive nor
  /// with the sequence; allocates nothing when `exchanges` is decoded already.
  ///
  /// `same_key(ordinal)` says whether that exchange's key equals `key` in full: the index knows
  /// hashes only, and the caller keeps decoded exchanges. It is asked about at most kCandidatesMax
  /// others that merely share the hash. `headers` choose between repeats.
  ///
  /// `takes(ordinal)` says whether the caller takes what comes next; where it does not, that is a
  /// miss, and the sequence stays where it was.
  template <class SameKey, class Takes>
  Decision match(const MatchKey& key, HeaderList headers, SequenceCursors& cursors,
                 SameKey&& same_key, Takes&& takes) const;
  template <class SameKey>
  Decision match(const MatchKey& key, HeaderList headers, SequenceCursors& cursors,
                 SameKey&& same_key) const {
    return match(key, headers, cursors, same_key, [](std::uint32_t) { return true; });
  }

  /// Explains a miss: at most kNearMissesMax exchanges of the same host and path, nearest first.
  /// An exchange that shares the whole key is listed when it belongs to another session or is
  /// broken.
  std::vector<NearMiss> nearest(const AskedRequest& asked) const;
  /// What of a missed request no recorded one shares: "host never recorded", "path never recorded",
  /// else "not recorded", and then nearest() says more.
  std::string_view miss_reason(const MatchKey& key) const;
  /// Rewrites the request to the scheme that its host was recorded with, where it never was under
  /// the asked one. False: there is nothing to rewrite, or the rules do not want it.
  bool substitute_scheme(AskedRequest& asked) const;

 private:
  class Nearest;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kHeadsMax = 4'096;  ///< of one key, that are looked at

  void link_repeats();
  void link_range(std::uint32_t begin, std::uint32_t end);
  void ignore(const std::vector<std::string>& globs);
  Decision decide_exactly(const AskedRequest& asked, SequenceCursors& cursors,
                          const RequestOf& request_of) const;
  Decision decide_fuzzily(const AskedRequest& asked, SequenceCursors& cursors,
                          const RequestOf& request_of) const;
  /// The best of the exchanges of a path that are not complete, by all but their bodies.
  Decision decide_broken(const AskedRequest& asked, SequenceCursors& cursors) const;
  std::uint32_t choose(const AskedRequest& asked, const Candidates& candidates, unsigned best,
                       const SequenceCursors& cursors) const;
  /// Whether the request was recorded as it is, but no such exchange is complete.
  bool is_recorded_broken(const MatchKey& key) const;

  /// The first ordinal that may answer a key of that hash, or kNone.
  std::uint32_t first_answer(std::uint64_t hash) const;
  /// Of the sequences that begin at `first` and behind it, the one to serve, or kNone.
  template <class SameKey>
  std::uint32_t sequence(std::uint32_t first, HeaderList headers, SameKey& same_key) const;
  /// The first one from `ordinal` on, in its sequence, whose key is the same.
  template <class SameKey>
  std::uint32_t seek(std::uint32_t ordinal, SameKey& same_key) const;

  const ArchiveReader* reader_;
  std::uint32_t session_ = 0;
  MatchRules rules_;
  std::vector<std::byte> own_index_;  // where the file has none
  MatchIndexView index_;
  std::vector<std::uint32_t> ignored_;  // names, sorted
  // Of each ordinal that can answer, the next one behind it that can, of the same key and
  // representation; and of the first of those, the first of the next representation.
  std::vector<std::uint32_t> next_repeat_;
  std::vector<std::uint32_t> next_sequence_;
  std::vector<std::uint32_t> first_answer_;  // from each ordinal on, itself included, of its hash
  std::vector<bool> answering_;
  bool has_broken_ = false;  // among those
};

template <class SameKey>
std::uint32_t Matcher::seek(std::uint32_t ordinal, SameKey& same_key) const {
  for (std::size_t tried = 0; ordinal != kNone && tried <= kCandidatesMax; ++tried) {
    if (same_key(ordinal)) return ordinal;
    ordinal = next_repeat_[ordinal];
  }
  return kNone;
}

template <class SameKey>
std::uint32_t Matcher::sequence(std::uint32_t first, HeaderList headers, SameKey& same_key) const {
  if (first == kNone || next_sequence_[first] == kNone) return seek(first, same_key);
  auto const asked = representation_of(headers, {});
  auto best = kNone;
  unsigned best_likeness = 0;
  std::size_t looked_at = 0;
  for (auto at = first; at != kNone && looked_at < kHeadsMax; at = next_sequence_[at]) {
    ++looked_at;
    auto const recorded = index_.representations()[at];
    if (best != kNone && likeness(recorded, asked) <= best_likeness) continue;
    auto const start = seek(at, same_key);
    if (start == kNone) continue;
    best = start;
    best_likeness = likeness(recorded, asked);
    if (same_representation(recorded, asked)) break;
  }
  return best;
}

template <class SameKey, class Takes>
Decision Matcher::match(const MatchKey& key, HeaderList headers, SequenceCursors& cursors,
                        SameKey&& same_key, Takes&& takes) const {
  invariant(cursors.taken_.size() == next_repeat_.size(), "cursors of another archive");
  auto const start = sequence(first_answer(key_hash(key)), headers, same_key);
  if (start == kNone) return {};
  auto& taken = cursors.taken_[start];
  auto seen = taken.load(std::memory_order_relaxed);
  Decision decision{.kind = MatchKind::kExact, .score = 100};
  while (true) {
    auto const last = start + seen - 1;
    auto const next = seen == 0 ? start : seek(next_repeat_[last], same_key);
    decision.ordinal = next == kNone ? last : next;
    if (!takes(decision.ordinal)) return {};
    if (next == kNone) break;
    // Another thread may have been given this one in the meantime: then the one after it.
    if (taken.compare_exchange_weak(seen, next - start + 1, std::memory_order_relaxed)) break;
  }
  cursors.give(decision.ordinal);
  return decision;
}

}  // namespace reprise
