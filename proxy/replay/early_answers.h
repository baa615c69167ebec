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

/// Whether the answer began before the request had ended, as in streaming calls: the client may
/// wait for the answer before it continues.
bool was_answered_early(const Exchange& exchange);

/// Finds the answers to unfinished requests. Their bodies cannot be compared: they are served in
/// recorded order, the last one repeating. Thread-safe.
class EarlyAnswers {
 public:
  /// The limit of exchanges visited per path.
  static constexpr std::size_t kVisitsMax = 256;

  /// For `session` of `archive`, which must outlive this.
  EarlyAnswers(const ArchiveReader& archive, std::uint32_t session)
      : archive_(archive), session_(session) {}

  /// The next one with the same method and URL, if any. `key.body_digest` does not count.
  std::optional<std::uint32_t> next(const MatchKey& key);
  /// Restarts.
  void reset();

 private:
  struct Calls {
    std::vector<std::uint32_t> ordinals;  // in recorded order
    std::size_t taken = 0;
  };
  std::vector<std::uint32_t> find(const MatchKey& key) const;

  const ArchiveReader& archive_;
  std::uint32_t session_;
  std::mutex mutex_;                              // streaming uploads are rare
  std::unordered_map<std::string, Calls> calls_;  // the existing ones, by method and URL
};

}  // namespace reprise
