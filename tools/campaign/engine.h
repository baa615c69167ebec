#pragma once

// Where the shards of a campaign run. An engine starts what is missing and knows what is queued;
// what is done is judged by results alone (progress.h).

#include <cstddef>
#include <expected>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tools/campaign/campaign_folder.h"

namespace reprise {

struct EngineOptions {
  std::string engine = "local";             ///< "local", "slurm"
  unsigned jobs = 1;                        ///< recording shards side by side, local
  unsigned rounds = 5;                      ///< a shard is started at most this many times
  bool wait = false;                        ///< until all is done; local always does
  std::string node;                         ///< local: this machine's name
  std::vector<std::string> sbatch_options;  ///< slurm: passed to sbatch
  unsigned check_minutes = 15;              ///< slurm: for the check of all nodes
};

/// Starts the missing shards: those of `submit` and of `resume`. Prints progress and errors;
/// returns the exit code: done when all have results and no page failed in every load, or, of Slurm
/// without `wait`, when all missing ones are queued and can start by themselves; failed also when
/// one is held or has been started as often as `rounds` permits.
int run_campaign(const CampaignFolder& folder, const EngineOptions& options);

/// On this machine. Measuring shards one at a time.
int run_here(const CampaignFolder& folder, const EngineOptions& options);
/// As array jobs of Slurm.
int run_on_slurm(const CampaignFolder& folder, const EngineOptions& options);

/// The lists of shards that were started together, one number per line: rounds/1.txt, ...
class Rounds {
 public:
  explicit Rounds(const CampaignFolder& folder);
  /// How many times each was started; those that never were are absent.
  const std::map<std::size_t, unsigned>& starts() const { return starts_; }
  /// Those of `missing` that may start once more; prints the others.
  std::vector<std::size_t> startable(const std::vector<std::size_t>& missing, unsigned most) const;
  /// Writes another list; its number, or 0 after an error, which has been printed.
  std::size_t add(const std::vector<std::size_t>& shards);
  /// Adds a shard to the list added last; false after an error, which has been printed.
  bool extend(std::size_t shard);
  /// Of the list added last, only the first `count` were started after all.
  void shorten(const std::vector<std::size_t>& shards, std::size_t count);
  std::filesystem::path path(std::size_t round) const;
  /// Of one list.
  std::vector<std::size_t> shards_of(std::size_t round) const;

 private:
  bool write(std::size_t round, std::span<const std::size_t> shards) const;

  std::filesystem::path folder_;
  std::size_t rounds_ = 0;
  std::map<std::size_t, unsigned> starts_;
};

}  // namespace reprise
