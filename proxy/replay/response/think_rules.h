#pragma once

// Think times that a what-if changes. Immutable once made, except for the draws' counter.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "archive/edit/retime.h"
#include "archive/exchange.h"

namespace reprise {

struct ThinkRule {
  ThinkTimeChange change;
  std::vector<std::chrono::nanoseconds> draws;  ///< empty: `change` counts
};

/// A think time for each answer, drawn from a distribution. Thread-safe. The same seed gives the
/// same draws, in the order of the answers.
class ThinkDraws {
 public:
  /// The first of `rules` has draws, which many exchanges share; the others change what is drawn.
  ThinkDraws(std::vector<std::shared_ptr<const ThinkRule>> rules, std::uint64_t seed)
      : rules_(std::move(rules)), seed_(seed) {}
  std::chrono::nanoseconds next();
  /// The next draw is the first one again.
  void restart() { drawn_.store(0, std::memory_order_relaxed); }

 private:
  std::vector<std::shared_ptr<const ThinkRule>> rules_;
  std::uint64_t seed_;
  std::atomic<std::uint64_t> drawn_ = 0;
};

/// Changes of the think times of single exchanges of one session.
class ThinkRules {
 public:
  using Rule = ThinkRule;

  /// `seed`: of all draws.
  explicit ThinkRules(std::uint64_t seed) : seed_(seed) {}

  /// Rules of one exchange are applied in the order in which they are added.
  void add(std::uint64_t sequence, std::shared_ptr<const Rule> rule);
  bool empty() const { return exchanges_.empty(); }

  /// The think time of an exchange whose usual one is `usual`: fixed, or drawn anew each time.
  struct Changed {
    std::chrono::nanoseconds fixed{};
    /// Null: `fixed` counts. The same each time, so that an exchange that is prepared again goes on
    /// with its draws.
    std::shared_ptr<ThinkDraws> draws;
  };
  Changed of(const Exchange& exchange, std::chrono::nanoseconds usual) const;
  /// A new client session begins: the draws of all exchanges restart. Thread-safe.
  void restart_draws() const;

 private:
  struct OfExchange {
    std::vector<std::shared_ptr<const Rule>> rules;
    std::shared_ptr<ThinkDraws> draws;  // null: none of the rules has draws
  };

  std::uint64_t seed_;
  std::unordered_map<std::uint64_t, OfExchange> exchanges_;  // by sequence
};

}  // namespace reprise
