#pragma once

// The record of a replay: every decision is counted and explained here, and nowhere else.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "proxy/replay/response/special_answers.h"
#include "proxy/replay/response/synthesis.h"

namespace reprise {

/// A request that the archive could not answer. Texts longer than ReplayLedger::kTextMax bytes are
/// cut off there, with "...".
struct Miss {
  std::string method;
  std::string url;
  std::uint64_t count = 0;
  std::string reason;
  std::vector<NearMiss> nearest;
};

/// A request that was answered by an exchange with another key.
struct InexactHit {
  std::string method;
  std::string url;
  std::uint64_t count = 0;
  unsigned score = 0;  ///< percent, the lowest of all
  bool scheme_substituted = false;
  std::string recorded_url;              ///< of the first answer
  std::vector<std::string> differences;  ///< of the first answer
};

/// A recorded exchange, as in reports.
struct RecordedRequest {
  std::uint64_t sequence = 0;  ///< in the session, from 1
  std::string method;
  std::string url;
};

/// The reason for a response's wait.
enum class Wait : std::uint8_t { kThink, kPause };

/// How often responses waited, and the total time.
struct WaitCount {
  std::uint64_t waits = 0;
  std::chrono::nanoseconds time{};
};

/// The counts of a replay since its start, or since the last reset.
struct ReplayCounts {
  std::uint64_t hits = 0;                ///< answered, as far as the client read
  std::uint64_t fuzzy_hits = 0;          ///< among them, by the best score
  std::uint64_t scheme_substituted = 0;  ///< among the hits, from the other scheme
  std::uint64_t misses = 0;
  std::uint64_t damaged = 0;      ///< recorded, but damaged in the file: counted among the misses
  std::uint64_t misdirected = 0;  ///< sent to a separate connection (421); neither a hit nor a miss
  std::uint64_t exchanges_servable = 0;
  std::uint64_t exchanges_served = 0;  ///< distinct ones
  std::uint64_t injected = 0;          ///< served with the script, among the hits
  std::int64_t injected_bytes = 0;     ///< by which those bodies were longer than recorded
  std::uint64_t decoded = 0;  ///< decoded for clients that do not accept the coding; among the hits
  std::uint64_t derived = 0;  ///< derived from a stored response: for HEAD, a condition or a range
  WaitCount think;            ///< before heads
  WaitCount pauses;           ///< in bodies
  /// The mean score of all hits and misses in percent: 100 exact, 0 a miss. 100 before the first.
  double confidence = 100;
  SpecialCounts special{};  ///< by Special
};

/// Counts and explains the decisions of one client session. Thread-safe; a hit takes no lock.
class ReplayLedger {
 public:
  static constexpr std::size_t kDistinctMax = 10'000;  ///< misses, and inexact hits
  static constexpr std::size_t kTextMax = 4 << 10;

  /// For a replay of `archive`, which must outlive this. `servable`: by ordinal, whether it can be
  /// served.
  ReplayLedger(const ArchiveReader& archive, std::vector<bool> servable);

  /// Cuts texts from a client or an archive to the limit of reports.
  static std::string shortened(std::string text);
  /// The miss for `asked`, which nothing answers.
  static Miss miss_of(const AskedRequest& asked, std::string reason, std::vector<NearMiss> nearest);
  /// The same if its answer is damaged in the archive; `problem` has the details.
  static Miss miss_by_damage(const AskedRequest& asked, const std::string& problem);

  /// Clears everything.
  void reset();

  /// `decision` was served, in `version`.
  void add_hit(const Decision& decision, const Exchange& exchange, HttpVersion version);
  /// The same for an inexact one.
  void add_inexact_hit(const Decision& decision, const Exchange& exchange,
                       const AskedRequest& asked, const MatchRules& rules);
  /// Nothing was served for `asked`; `miss` has the reason.
  void add_miss(const AskedRequest& asked, const Miss& miss);
  /// The same for an exchange that is recorded, but damaged in the archive.
  void add_damaged(const AskedRequest& asked, const Miss& miss);
  /// An exchange counted as a hit turned out to be damaged after its head was sent.
  void turn_hit_into_miss(const StoredRequest& request, const std::string& problem);
  /// An answer that is neither a hit nor a miss, or a special hit; `why` has the reason.
  void add_special(Special special, const MatchKey& key, std::string why);
  void add_misdirected() { misdirected_.fetch_add(1, std::memory_order_relaxed); }

  void add_decoded() { decoded_.fetch_add(1, std::memory_order_relaxed); }
  void add_derived() { derived_.fetch_add(1, std::memory_order_relaxed); }
  void add_wait(Wait kind, std::chrono::nanoseconds time);
  /// A hit contained the script, and is longer by this.
  void add_injected(std::int64_t bytes);

  ReplayCounts counts() const;
  Synthesised synthesised() const { return synthesis_.total(); }
  /// In order of appearance, at most kDistinctMax.
  std::vector<Miss> misses() const;
  std::vector<InexactHit> inexact_hits() const;
  std::vector<SpecialAnswer> special_answers() const { return specials_.list(); }
  /// Recorded exchanges that could be served but were not, in recorded order, at most `max`.
  std::vector<RecordedRequest> never_asked_for(std::size_t max) const;
  /// Exchanges that were first served in another order than recorded: the smallest set without
  /// which the orders are equal. In recorded order.
  std::vector<std::uint32_t> out_of_order() const;
  RecordedRequest name_of(std::uint32_t ordinal) const;

 private:
  void add(const AskedRequest& asked, const Miss& miss, bool damaged);

  const ArchiveReader& archive_;
  std::vector<bool> const servable_;
  std::uint64_t servable_count_ = 0;

  std::atomic<std::uint64_t> hits_ = 0;
  std::atomic<std::uint64_t> fuzzy_ = 0;
  std::atomic<std::uint64_t> substituted_ = 0;
  std::atomic<std::uint64_t> lost_score_ = 0;  // sum over the hits of 100 - score
  std::atomic<std::uint64_t> misdirected_ = 0;
  std::atomic<std::uint64_t> injected_ = 0;
  std::atomic<std::int64_t> injected_bytes_ = 0;
  std::atomic<std::uint64_t> decoded_ = 0;
  std::atomic<std::uint64_t> derived_ = 0;
  struct Waits {
    std::atomic<std::uint64_t> count = 0;
    std::atomic<std::int64_t> time_ns = 0;
    WaitCount total() const { return {.waits = count, .time = std::chrono::nanoseconds(time_ns)}; }
  };
  Waits think_;
  Waits pauses_;
  std::atomic<std::uint32_t> served_count_ = 0;
  std::vector<std::atomic<std::uint32_t>>
      served_;  // by ordinal: the position of its first use, 0: never
  SynthesisCounter synthesis_;
  SpecialAnswers specials_;

  mutable std::mutex mutex_;  // inexact answers are rare
  std::uint64_t misses_ = 0;
  std::uint64_t damaged_ = 0;
  std::vector<Miss> distinct_misses_;
  std::vector<InexactHit> inexact_hits_;
  std::unordered_map<std::size_t, std::size_t> miss_positions_;  // by hash of method and URL
  std::unordered_map<std::size_t, std::size_t> inexact_positions_;
};

}  // namespace reprise
