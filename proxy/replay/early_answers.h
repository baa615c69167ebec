#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/match/request.h"
#include "archive/reader.h"

namespace reprise {

/// Whether the answer began before the request had ended, as of streaming calls: who made it may be
/// waiting for that before it goes on.
bool was_answered_early(const Exchange& exchange);

/// Finds the answers to requests that are not over. Their bodies cannot be compared: they come in
/// recorded order, the last one repeating. Thread-safe.
class EarlyAnswers {
 public:
  /// How many exchanges of a path are looked at.
  static constexpr std::size_t kVisitsMax = 256;

  /// Of `session` of `archive`, which must outlive this.
  EarlyAnswers(const ArchiveReader& archive, std::uint32_t session)
      : archive_(archive), session_(session) {}

  /// The next one of the same method and URL, if there is one. `key.body_digest` does not count.
  std::optional<std::uint32_t> next(const MatchKey& key);
  /// Starts again.
  void reset();

 private:
  struct Calls {
    std::vector<std::uint32_t> ordinals;  // in recorded order
    std::size_t taken = 0;
  };
  std::vector<std::uint32_t> find(const MatchKey& key) const;

  const ArchiveReader& archive_;
  std::uint32_t session_;
  std::mutex mutex_;                              // uploads that stream are rare
  std::unordered_map<std::string, Calls> calls_;  // by method and URL, of what there is
};

}  // namespace reprise
