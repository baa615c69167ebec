#pragma once

// The folder of a planned campaign: plan.json, results/, failures/, nodes/, rounds/, logs/, lock.
// It may lie on a file system that many machines share: whatever is read by another process appears
// by rename.

#include <expected>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/campaign/plan.h"
#include "analysis/campaign/progress.h"
#include "base/system/descriptor.h"

namespace reprise {

/// Prints "reprise: campaign: TEXT"; returns `exit_code`.
int say_of_campaign(int exit_code, const std::string& text);
/// The name under which this machine measures: `given`, else that of the Slurm node, else the host.
std::string node_name(const std::string& given);

/// Whether this result shows that `node` works: it is of the node, and has loads or recorded pages.
bool shows_success(const ShardHeader& result, const std::string& node);

class CampaignFolder {
 public:
  /// Reads the plan. Prints errors; the error is an exit code.
  static std::expected<CampaignFolder, int> open(const std::filesystem::path& folder);
  /// Makes the folder of a new plan; the same plan again changes nothing. Prints errors; returns
  /// the exit code: a folder with another plan is refused.
  static int make(const std::filesystem::path& folder, const Plan& plan);

  const std::filesystem::path& path() const { return path_; }
  const Plan& plan() const { return plan_; }
  const std::string& digest() const { return digest_; }
  /// False, with a message, if the plan has changed since `digest` was submitted; empty: any.
  bool is_still(const std::string& digest) const;

  /// `shard` from 1. Of the task record, a file in a folder with the archives.
  std::filesystem::path result_path(std::size_t shard) const;
  /// The header of a result that is there, of any plan.
  std::optional<ShardHeader> result_of(std::size_t shard) const;
  /// Whether its result is there: one of this plan and of this shard.
  bool is_done(std::size_t shard) const;
  /// Why the last attempt at it failed; nothing: there was none, or it is not known.
  std::optional<ShardFailure> failure_of(std::size_t shard) const;
  CampaignFacts facts() const;
  /// Whether a result that is there shows that `node` works. Reads all results.
  bool has_success_of(const std::string& node) const;
  std::vector<NodeCheck> node_checks() const;

  /// Writes through to the disk, then renames. Prints an error; false then.
  bool keep_result(std::size_t shard, std::string_view text) const;
  bool keep_node_check(NodeCheck check) const;
  /// Why an attempt failed. What cannot be written is only printed.
  void keep_failure(const ShardFailure& failure) const;
  /// Moves the results of refused nodes away, so that their shards run again. Results that were set
  /// aside before are kept. Prints an error of each that cannot be moved; false then.
  bool set_aside(const std::vector<RefusedNode>& refused) const;
  /// The same of one shard.
  bool set_aside(std::size_t shard, const std::vector<RefusedNode>& refused) const;

 private:
  std::filesystem::path path_;
  Plan plan_;
  std::string digest_;
};

/// Keeps a second `submit` or `resume` of the same folder out, also one on another machine where
/// the file system has locks. Held until its end, however this process ends.
class CampaignLock {
 public:
  /// Ten seconds in all: a busy machine may take long to start a program.
  static constexpr int kPausesMax = 500;

  /// A shard that a process of this machine was just starting when it ended holds the lock until it
  /// runs its own program: tries again after each `pause`, by default 20 ms, kPausesMax times. Of
  /// any other holder, or one that stays, prints the name; nothing then.
  static std::optional<CampaignLock> take(const std::filesystem::path& folder,
                                          const std::function<void()>& pause = pause_briefly);

 private:
  explicit CampaignLock(Descriptor file) : file_(std::move(file)) {}
  static void pause_briefly();

  Descriptor file_;
};

}  // namespace reprise
