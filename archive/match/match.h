#pragma once

// Decides which recorded exchange answers a request, and why: MATCHING.md. Pure: an archive, a
// request and the session's cursors in, a decision with its reason out. Uses neither the network
// nor the clock.

#include <algorithm>
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

/// Which of the recorded answers to equal requests is given.
enum class Repeats : std::uint8_t {
  kInOrder,    ///< the n-th to the n-th request, the last one repeating
  kMostAlike,  ///< always the one whose request fields agree best, the first of equals
};

struct MatchRules {
  bool exact_only = false;
  std::vector<std::string> ignored_params;  ///< globs of parameter names (glob.h)
  /// Exchanges that were cut or failed answer, too, with their partial data.
  bool failures = true;
  Repeats repeats = Repeats::kInOrder;
};

/// A similar recorded exchange, and why it is not the answer.
struct NearMiss {
  std::uint32_t ordinal = 0;
  std::string url;
  std::string why;
};

struct Decision {
  MatchKind kind = MatchKind::kMiss;
  std::uint32_t ordinal = 0;  ///< position in reader.entries(), unless it is a miss
  unsigned score = 0;         ///< percent; 100 if exact; for a miss, the best one found
  bool scheme_substituted = false;
  std::uint32_t candidates = 0;  ///< the cost: exchanges scored
  std::uint32_t lists_read = 0;
};

/// The default session for a replay: the last complete one, otherwise the last.
std::uint32_t session_to_replay(const ArchiveReader& reader);

/// Whether session `number` can be replayed; 0: whether there is any. A session whose own record is
/// damaged is known by its exchanges.
bool has_session(const ArchiveReader& reader, std::uint32_t number);

/// Thread-safe.
class Matcher {
 public:
  static constexpr std::size_t kNearMissesMax = 5;
  static constexpr std::size_t kCandidatesMax = Candidates::kMax;
  /// The request of an ordinal, or null if it is unreadable. The caller caches decoded requests.
  using RequestOf = std::function<const StoredRequest*(std::uint32_t)>;
  /// True of every exchange.
  struct Always {
    bool operator()(std::uint32_t) const { return true; }
  };

  /// Answers from `session` of `reader` (which must outlive this); 0 means session_to_replay().
  /// Uses twelve bytes per entry, and memory for a match index if the file has none, or if
  /// parameters are ignored.
  Matcher(const ArchiveReader& reader, std::uint32_t session, MatchRules rules = {});

  std::uint32_t session() const { return session_; }
  const MatchRules& rules() const { return rules_; }
  /// By ordinal: whether it can be an answer.
  const std::vector<bool>& answering() const { return answering_; }
  /// Whether decide() compares bodies; otherwise their digests are enough.
  bool compares_bodies() const { return !rules_.exact_only || !rules_.ignored_params.empty(); }

  /// The best answer to `asked`. Allocates memory unless it is exact.
  Decision decide(const AskedRequest& asked, SequenceCursors& cursors,
                  const RequestOf& request_of) const;

  /// The first step of decide(): the next exchange in the recorded sequence of `key`, the last one
  /// repeating. The cost does not grow with the archive or the sequence; allocates nothing if
  /// `exchanges` is already decoded.
  ///
  /// `same_key(ordinal)` says whether that exchange's key equals `key` in full: the index has only
  /// hashes, and the caller keeps decoded exchanges. It is called for at most kCandidatesMax others
  /// that only share the hash. `headers` choose between repeats.
  ///
  /// `takes(ordinal)` says whether the caller takes the next exchange; if not, the result is a
  /// miss, and the sequence stays where it was.
  ///
  /// `same_cors(ordinal)` says whether that exchange's request has the same_cors_fields(). Of
  /// several repeats, those that have are a separate sequence; if no repeat has, all are one.
  template <class SameKey, class Takes = Always, class SameCors = Always>
  Decision match(const MatchKey& key, HeaderList headers, SequenceCursors& cursors,
                 SameKey&& same_key, Takes&& takes = {}, SameCors&& same_cors = {}) const;

  /// Explains a miss: at most kNearMissesMax exchanges of the same host and path, nearest first. An
  /// exchange with an equal key is listed if it belongs to another session or is broken.
  std::vector<NearMiss> nearest(const AskedRequest& asked) const;
  /// The part of a missed request that was never recorded: "host never recorded", "path never
  /// recorded", otherwise "not recorded"; nearest() has details.
  std::string_view miss_reason(const MatchKey& key) const;
  /// Changes the request's scheme to the one that its host was recorded with, if it never was under
  /// the requested one. False: nothing to change, or the rules forbid it.
  bool substitute_scheme(AskedRequest& asked) const;
  /// Whether exactly this request was recorded, but no such exchange is complete.
  bool is_recorded_broken(const MatchKey& key) const;

 private:
  class Nearest;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kHeadsMax = 4'096;  ///< of one key

  void link_repeats();
  void link_range(std::uint32_t begin, std::uint32_t end);
  /// decide() without the other scheme.
  Decision decide_in_scheme(const AskedRequest& asked, SequenceCursors& cursors,
                            const RequestOf& request_of) const;
  Decision decide_exactly(const AskedRequest& asked, SequenceCursors& cursors,
                          const RequestOf& request_of) const;
  /// match() for `asked`, under `key`.
  template <class SameKey>
  Decision match_asked(const MatchKey& key, const AskedRequest& asked, SequenceCursors& cursors,
                       const RequestOf& request_of, SameKey&& same_key) const;
  /// The next exchange with the key of `asked` whose body is incomplete. `broken`: one that was cut
  /// or failed, which must not replace a better answer; otherwise one that is complete.
  Decision decide_without_body(const AskedRequest& asked, SequenceCursors& cursors,
                               const RequestOf& request_of, bool broken) const;
  Decision decide_fuzzily(const AskedRequest& asked, SequenceCursors& cursors,
                          const RequestOf& request_of) const;
  /// The best incomplete exchange of a path, compared without bodies.
  Decision decide_broken(const AskedRequest& asked, SequenceCursors& cursors) const;
  std::uint32_t choose(const AskedRequest& asked, const Candidates& candidates, unsigned best,
                       const SequenceCursors& cursors) const;
  /// The first ordinal that can answer a key with that hash, or kNone.
  std::uint32_t first_answer(std::uint64_t hash) const;
  /// The sequence to serve, of those that begin at `first` or later, or kNone.
  template <class SameKey>
  std::uint32_t sequence(std::uint32_t first, HeaderList headers, SameKey& same_key) const;
  /// The answer by kMostAlike, of those that begin at `first` or later, or kNone.
  template <class SameKey>
  std::uint32_t most_alike(std::uint32_t first, HeaderList headers, SameKey& same_key) const;
  double agreement_with(std::uint32_t ordinal, HeaderList headers) const;
  /// The first one from `ordinal` on, in its sequence, that `fits`.
  template <class Fits>
  std::uint32_t seek(std::uint32_t ordinal, Fits& fits) const;
  /// The next exchange that `fits`, of the sequence that begins at `start`, which fits.
  template <class Fits, class Takes>
  Decision take(std::uint32_t start, SequenceCursors& cursors, Fits& fits, Takes& takes) const;

  const ArchiveReader* reader_;
  std::uint32_t session_ = 0;
  MatchRules rules_;
  std::vector<std::byte> own_index_;  // if that in the file is not used
  MatchIndexView index_;
  // For each ordinal that can answer, the next such ordinal with the same key and representation;
  // for the first of those, the first of the next representation.
  std::vector<std::uint32_t> next_repeat_;
  std::vector<std::uint32_t> next_sequence_;
  std::vector<std::uint32_t> first_answer_;  // from each ordinal on, including itself, for its hash
  std::vector<bool> answering_;
  bool has_broken_ = false;  // whether it has any
};

template <class Fits>
std::uint32_t Matcher::seek(std::uint32_t ordinal, Fits& fits) const {
  for (std::size_t tried = 0; ordinal != kNone && tried <= kCandidatesMax; ++tried) {
    if (fits(ordinal)) return ordinal;
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

template <class SameKey>
std::uint32_t Matcher::most_alike(std::uint32_t first, HeaderList headers,
                                  SameKey& same_key) const {
  std::vector<std::uint32_t> repeats;
  for (auto start = first; start != kNone; start = next_sequence_[start]) {
    for (auto at = start; at != kNone && repeats.size() < kCandidatesMax; at = next_repeat_[at]) {
      if (same_key(at)) repeats.push_back(at);
    }
  }
  if (repeats.size() < 2) return repeats.empty() ? kNone : repeats.front();
  std::ranges::sort(repeats);  // as recorded, so that the first of equals is chosen
  return *std::ranges::max_element(
      repeats, {}, [&](std::uint32_t each) { return agreement_with(each, headers); });
}

template <class SameKey, class Takes, class SameCors>
Decision Matcher::match(const MatchKey& key, HeaderList headers, SequenceCursors& cursors,
                        SameKey&& same_key, Takes&& takes, SameCors&& same_cors) const {
  invariant(cursors.taken_.size() == next_repeat_.size(), "cursors of another archive");
  if (rules_.repeats == Repeats::kMostAlike) {
    auto const found = most_alike(first_answer(key_hash(key)), headers, same_key);
    if (found == kNone || !takes(found)) return {};
    cursors.give(found);
    return {.kind = MatchKind::kExact, .ordinal = found, .score = 100};
  }
  auto const start = sequence(first_answer(key_hash(key)), headers, same_key);
  if (start == kNone) return {};
  if (next_repeat_[start] == kNone) return take(start, cursors, same_key, takes);
  auto const alike = [&](std::uint32_t ordinal) { return same_key(ordinal) && same_cors(ordinal); };
  auto const first_alike = same_cors(start) ? start : seek(next_repeat_[start], alike);
  if (first_alike == kNone) return take(start, cursors, same_key, takes);
  return take(first_alike, cursors, alike, takes);
}

template <class Fits, class Takes>
Decision Matcher::take(std::uint32_t start, SequenceCursors& cursors, Fits& fits,
                       Takes& takes) const {
  auto& taken = cursors.taken_[start];
  auto seen = taken.load(std::memory_order_relaxed);
  Decision decision{.kind = MatchKind::kExact, .score = 100};
  while (true) {
    auto const last = start + seen - 1;
    auto const next = seen == 0 ? start : seek(next_repeat_[last], fits);
    decision.ordinal = next;
    // The last one may be unfit if a request with new CORS fields took it, from the same start.
    if (next == kNone) decision.ordinal = last == start || fits(last) ? last : start;
    if (!takes(decision.ordinal)) return {};
    if (next == kNone) break;
    // Another thread may have taken this one in the meantime: then use the next.
    if (taken.compare_exchange_weak(seen, next - start + 1, std::memory_order_relaxed)) break;
  }
  cursors.give(decision.ordinal);
  return decision;
}

}  // namespace reprise
