#include <boost/json/serialize.hpp>
#include <cstdio>
#include <memory>

#include "analysis/campaign/file_name.h"
#include "base/system/text_file.h"
#include "tools/campaign/advise_digests.h"
#include "tools/campaign/campaign_folder.h"
#include "tools/campaign/collect.h"
#include "tools/campaign/engine.h"
#include "tools/campaign/node_check.h"
#include "tools/campaign/plan_command.h"
#include "tools/campaign/shard_run.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// Nodes name files in the plan's folder.
const CLI::Validator kNodeName(
    [](const std::string& name) { return is_file_name(name) ? "" : std::string(kFileNameRule); },
    "NAME");

struct CampaignFlags {
  fs::path folder, file, output;
  std::string plan, node;
  std::size_t shard = 0;
  fs::path list;
  std::size_t index = 0;
  EngineOptions engine;
  CollectOptions collect;
  bool json = false;
};
using SharedFlags = std::shared_ptr<CampaignFlags>;

/// The shard on the command line, or the one at an index of a list; 0 after an error.
std::size_t shard_of(const CampaignFlags& flags, const CampaignFolder& folder) {
  auto shard = flags.shard;
  if (!flags.list.empty()) {
    std::istringstream lines(contents_of(flags.list));
    for (std::size_t at = 0; lines >> shard && at < flags.index;) ++at;
    if (!lines) shard = 0;
  }
  auto const shards = folder.plan().shards.size();
  if (shard > 0 && shard <= shards) return shard;
  say_of_campaign(0, "the plan has no such shard: they are 1 to " + std::to_string(shards));
  return 0;
}

int run_one(const CampaignFlags& flags) {
  Interruption const interruption;
  auto const folder = CampaignFolder::open(flags.folder);
  if (!folder) return folder.error();
  if (!folder->is_still(flags.plan)) return kExitFailed;
  auto const shard = shard_of(flags, *folder);
  if (shard == 0) return kExitUsage;
  return run_shard(*folder, shard, node_name(flags.node));
}

int check_here(const CampaignFlags& flags) {
  Interruption const interruption;
  auto const folder = CampaignFolder::open(flags.folder);
  if (!folder) return folder.error();
  if (!folder->is_still(flags.plan)) return kExitFailed;
  auto const node = node_name(flags.node);
  auto const alone = NodeLock::take(node);
  if (!alone) {
    auto const code = Interruption::was_asked() ? Interruption::exit_code() : int{kExitFailed};
    return say_of_campaign(code, "node " + node + ": " + alone.error());
  }
  auto const bad = check_node(*folder, node);
  if (!bad) return kExitDone;
  auto const exit_code = Interruption::was_asked() ? Interruption::exit_code() : int{kExitFailed};
  return say_of_campaign(exit_code,
                         "node " + node + (bad->is_refused ? " is refused: " : ": ") + bad->why);
}

int start(const CampaignFlags& flags) {
  Interruption const interruption;
  auto const folder = CampaignFolder::open(flags.folder);
  return folder ? run_campaign(*folder, flags.engine) : folder.error();
}

int tell_status(const CampaignFlags& flags) {
  auto const folder = CampaignFolder::open(flags.folder);
  if (!folder) return folder.error();
  auto const progress = progress_of(folder->plan(), folder->facts());
  auto const text =
      flags.json ? boost::json::serialize(to_json(progress)) + "\n" : progress_text(progress);
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

int collect(CampaignFlags& flags) {
  auto const folder = CampaignFolder::open(flags.folder);
  if (!folder) return folder.error();
  flags.collect.output = flags.output;
  return collect_campaign(*folder, flags.collect);
}

CLI::App* add_sub(CLI::App& campaign, const SharedFlags& flags, const char* name,
                  const char* what) {
  auto* const sub = add_command(campaign, name, what);
  sub->add_option("DIR", flags->folder, "Folder of the plan")->required();
  return sub;
}

/// What `run` and `check` know of the plan and of this machine.
void add_node_options(CLI::App* sub, const SharedFlags& flags) {
  sub->add_option("--plan", flags->plan, "Fail unless this is still the plan")->type_name("DIGEST");
  sub->add_option("--node", flags->node,
                  "This machine's name in the results [that of the Slurm node, or the host's]")
      ->check(kNodeName);
}

void add_start(CLI::App& campaign, const SharedFlags& flags, const char* name, const char* what,
               int& exit_code) {
  auto* const sub = add_sub(campaign, flags, name, what);
  auto& engine = flags->engine;
  sub->add_option("--engine", engine.engine, "Run the shards on this machine, or as jobs of Slurm")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  sub->add_option("--rounds", engine.rounds, "Start a shard at most N times")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  sub->add_option("--jobs", engine.jobs, "local: record N shards at the same time")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  sub->add_option("--node", engine.node, "local: this machine's name in the results [the host's]")
      ->check(kNodeName);
  sub->add_flag("--wait", engine.wait,
                "slurm: wait, and start again what failed, until all is done");
  sub->add_option("--sbatch-option", engine.sbatch_options,
                  "slurm: pass this to sbatch, such as --partition=browsers")
      ->allow_extra_args(false);
  sub->add_option("--check-minutes", engine.check_minutes,
                  "slurm: wait this long for the check of all nodes")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  sub->callback([flags, &exit_code] { exit_code = start(*flags); });
}

void add_run(CLI::App& campaign, const SharedFlags& flags, int& exit_code) {
  auto* const run = add_sub(campaign, flags, "run", "Run one shard on this machine, as engines do");
  auto* const shard = run->add_option("SHARD", flags->shard, "Its number, from 1");
  auto* const list =
      run->add_option("--list", flags->list, "Take the number from this file, one per line")
          ->excludes(shard);
  run->add_option("--index", flags->index, "The line of that file, from 0")->needs(list);
  add_node_options(run, flags);
  run->callback([flags, &exit_code] { exit_code = run_one(*flags); });
  auto* const check =
      add_sub(campaign, flags, "check", "Check this machine and calibrate it, as engines do first");
  add_node_options(check, flags);
  check->callback([flags, &exit_code] { exit_code = check_here(*flags); });
}

void add_collect(CLI::App& campaign, const SharedFlags& flags, int& exit_code) {
  auto* const sub = add_sub(campaign, flags, "collect", "Make one result set of all results");
  sub->add_option("-o,--output", flags->output, "Write the result set to this folder")->required();
  sub->add_flag("--incomplete", flags->collect.incomplete, "Also while shards are missing");
  auto* const part =
      sub->add_option("--part", flags->collect.part,
                      "For engines: only every Nth page from the Kth; print what --merge reads. -: "
                      "the parts that standard input names, one per line");
  part->type_name("K/N");
  sub->add_flag("--merge", flags->collect.merge,
                "Finish the set from the lines of all parts on standard input")
      ->excludes(part);
  sub->callback([flags, &exit_code] { exit_code = collect(*flags); });
}

void add_digests(CLI::App& campaign, int& exit_code) {
  auto const options = std::make_shared<DigestOptions>();
  auto* const sub = add_command(
      campaign, "advise",
      "Write what was found for each owner of pages: campaign advise SET --owners FILE");
  sub->add_option("SET", options->set, "Result set of a campaign with the task advise")->required();
  sub->add_option("--owners", options->owners, "The map from pages to owners (JSON)")->required();
  sub->add_option("--before", options->before, "Also say what changed since this result set");
  sub->add_option("-o,--output", options->output, "Write OWNER.md and OWNER.json to this folder")
      ->required();
  sub->callback([options, &exit_code] { exit_code = write_digests(*options); });
}

}  // namespace

void add_campaign_command(CLI::App& app, int& exit_code) {
  auto* const campaign =
      add_command(app, "campaign", "Record, load or advise on thousands of pages on many machines");
  campaign->require_subcommand(1);
  auto const flags = std::make_shared<CampaignFlags>();
  auto* const plan =
      add_command(*campaign, "plan", "Cut a campaign into shards: campaign plan FILE -o DIR");
  plan->add_option("FILE", flags->file, "The campaign (JSON, see docs/campaigns.md)")->required();
  plan->add_option("-o,--output", flags->output,
                   "Write the plan to this folder, which all "
                   "machines can reach")
      ->required();
  plan->callback([flags, &exit_code] { exit_code = plan_from_file(flags->file, flags->output); });
  add_start(*campaign, flags, "submit", "Start all shards of a plan", exit_code);
  add_start(*campaign, flags, "resume", "Start the shards that have no result", exit_code);
  auto* const status =
      add_sub(*campaign, flags, "status",
              "Say what is done, missing and why; the exit status is 0 even if pages failed");
  status->add_flag("--json", flags->json, "Print JSON");
  status->callback([flags, &exit_code] { exit_code = tell_status(*flags); });
  add_collect(*campaign, flags, exit_code);
  add_digests(*campaign, exit_code);
  add_run(*campaign, flags, exit_code);
}

}  // namespace reprise
