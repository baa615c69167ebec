#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/system/execute.h"
#include "base/system/guarded_process.h"
#include "base/text/counted.h"
#include "tools/campaign/engine.h"
#include "tools/campaign/shard_run.h"
#include "tools/commands.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

/// What shards have shown of this machine, in all rounds.
struct MachineState {
  bool has_recorded = false;  ///< a page, for this campaign
  unsigned again_in_a_row = 0;

  /// `recorded`: the shard has a result of this machine with at least one page.
  void add(int exit_code, bool recorded) {
    again_in_a_row = exit_code == kExitShardAgain ? again_in_a_row + 1 : 0;
    has_recorded = has_recorded || recorded;
  }
  /// A machine that can record can have a shard of which all pages are gone: it runs again. Two in
  /// a row are the machine's fault.
  bool can_continue() const { return again_in_a_row <= (has_recorded ? 1U : 0U); }
};

/// Shards of one round, in processes of their own. Each is in the round's list as soon as it
/// starts, and no earlier: a death of this process costs the others none of their starts.
class LocalRound {
 public:
  LocalRound(const CampaignFolder& folder, const EngineOptions& options,
             const std::vector<std::size_t>& shards, Rounds& rounds, MachineState& machine)
      : folder_(folder), options_(options), shards_(shards), rounds_(rounds), machine_(machine) {}

  /// Returns the exit code of an interruption, of a node that must not measure, or of a list that
  /// cannot be written; else 0.
  int run() {
    while (started_ < shards_.size() || !running_.empty()) {
      bool const may_start = stopped_ == 0 && !Interruption::was_asked();
      if (may_start && started_ < shards_.size() && running_.size() < options_.jobs) {
        auto const shard = shards_[started_++];
        if (rounds_.extend(shard)) {
          start(shard);
        } else {
          stopped_ = kExitFailed;
        }
      } else if (running_.empty()) {
        break;
      } else {
        reap();
      }
    }
    return Interruption::was_asked() ? Interruption::exit_code() : stopped_;
  }

 private:
  struct Running {
    std::size_t shard;
    std::unique_ptr<GuardedProcess> process;
    bool told = false;
  };

  void start(std::size_t shard) {
    auto process = GuardedProcess::start(
        {.program = "/proc/self/exe",
         .arguments = {"campaign", "run", folder_.path().string(), std::to_string(shard), "--plan",
                       folder_.digest(), "--node", node_name(options_.node)},
         .environment = environment_with({})});
    if (!process) {
      folder_.keep_failure({.shard = shard,
                            .node = node_name(options_.node),
                            .reason = "no process: " + process.error().message()});
      return;
    }
    running_.push_back({.shard = shard, .process = std::move(*process)});
  }

  void reap() {
    for (Running& each : running_) {
      if (Interruption::was_asked() && !std::exchange(each.told, true)) each.process->terminate();
      auto const wait = Clock::now() + std::chrono::milliseconds(200) / running_.size();
      auto const status = each.process->wait_until(wait);
      if (!status) continue;
      auto const code = exit_code_of(*status);
      machine_.add(code, code == kExitDone && has_recorded(each.shard));
      if (!machine_.can_continue()) stopped_ = kExitShardAgain;
      ++ended_;
      say_of_campaign(0, "shard " + std::to_string(each.shard) + " ended, " +
                             std::to_string(ended_) + " of " + std::to_string(shards_.size()));
      each.process.reset();
    }
    std::erase_if(running_, [](const Running& each) { return each.process == nullptr; });
  }

  bool has_recorded(std::size_t shard) const {
    if (folder_.plan().campaign.task != CampaignFile::Task::kRecord) return false;
    auto const result = folder_.result_of(shard);
    return result && shows_success(*result, node_name(options_.node));
  }

  const CampaignFolder& folder_;
  const EngineOptions& options_;
  const std::vector<std::size_t>& shards_;
  Rounds& rounds_;
  MachineState& machine_;
  std::vector<Running> running_;
  std::size_t started_ = 0;
  std::size_t ended_ = 0;
  int stopped_ = 0;
};

}  // namespace

int run_here(const CampaignFolder& folder, const EngineOptions& options) {
  bool const records = folder.plan().campaign.task == CampaignFile::Task::kRecord;
  if (!records && options.jobs > 1) {
    return say_of_campaign(kExitUsage,
                           "--jobs is for recording: two measurements on one machine disturb each "
                           "other");
  }
  MachineState machine{.has_recorded = records && folder.has_success_of(node_name(options.node))};
  while (true) {
    auto const progress = progress_of(folder.plan(), folder.facts());
    folder.set_aside(progress.refused);
    if (progress.missing.empty()) {
      std::fputs(progress_text(progress).c_str(), stderr);
      return progress.failed_pages.empty() ? kExitDone : kExitFailed;
    }
    Rounds rounds(folder);
    auto const shards = rounds.startable(progress.missing, options.rounds);
    if (shards.empty()) return kExitFailed;
    if (rounds.add({}) == 0) return kExitFailed;
    say_of_campaign(0, counted(shards.size(), "shard") + " to run here, about " +
                           time_text(progress.seconds_left));
    int const code = LocalRound(folder, options, shards, rounds, machine).run();
    if (code != 0) {
      if (code == kExitShardAgain) {
        return say_of_campaign(
            kExitFailed,
            std::string("this machine cannot continue; repair it, then run `reprise campaign "
                        "resume`") +
                (records ? ". Perhaps no page of these shards can be recorded: `resume` decides"
                         : ""));
      }
      return code;
    }
  }
}

}  // namespace reprise
