#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/http/digest.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "tools/campaign/engine.h"
#include "tools/campaign/sbatch_options.h"
#include "tools/campaign/slurm_command.h"
#include "tools/campaign/slurm_queue.h"
#include "tools/commands.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// Slurm's own default for MaxArraySize is 1001.
constexpr std::size_t kArrayMax = 1000;
/// What a shard may know of the submitting shell. A whole environment would make shards of two
/// people differ.
constexpr auto kExported =
    "HOME,PATH,LANG,TMPDIR,XDG_DATA_HOME,XDG_CACHE_HOME,XDG_CONFIG_HOME,"
    "SLURM_CONF";

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (char const c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The variable of the shell in which the user gives an option to sbatch; empty if not set.
std::string of_shell(const char* name) {
  auto const* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct SlurmNodes {
  std::set<std::string> known;   ///< all that Slurm has
  std::set<std::string> usable;  ///< those that run jobs now, and may run this campaign's
};

struct Queue {
  std::set<std::size_t> shards;  ///< of all tasks
  std::size_t active = 0;        ///< tasks that wait or run
  /// How many never start by themselves, for each job and reason.
  std::map<std::pair<std::string, std::string>, std::size_t> held;
};

class SlurmEngine {
 public:
  SlurmEngine(const CampaignFolder& folder, const EngineOptions& options)
      : folder_(folder), options_(options) {
    std::error_code error;
    program_ = fs::read_symlink("/proc/self/exe", error).string();
    // Two folders can have the same plan.
    auto const place = fs::weakly_canonical(folder.path(), error).string();
    place_name_ = folder.digest() + "-" + sha256_hex(place).substr(0, 8);
    job_name_ = "reprise-" + place_name_;
    has_begin_ = sbatch_value(options.sbatch_options, "begin", 'b').has_value() ||
                 !of_shell("SBATCH_BEGIN").empty();
  }

  int run() {
    while (true) {
      auto const nodes = slurm_nodes();
      if (!nodes) return failed();
      is_patient_ = options_.wait;
      if (auto const code = check_nodes(nodes->usable); code != kExitDone) return code;
      auto progress = progress_of(folder_.plan(), folder_.facts());
      folder_.set_aside(progress.refused);
      if (progress.missing.empty()) break;
      auto const queue = read_queue();
      if (!queue) return failed();
      tell_held(*queue, true);
      std::erase_if(progress.missing,
                    [&](std::size_t shard) { return queue->shards.contains(shard); });
      auto const shards = Rounds(folder_).startable(progress.missing, options_.rounds);
      if (shards.empty() && queue->active == 0) return kExitFailed;
      auto const queued =
          submit(shards, excluded_nodes(progress.refused, nodes->known), queue->active == 0);
      if (queued < shards.size()) {
        auto const left = counted(shards.size() - queued, "shard") + " not queued";
        if (!options_.wait || queued + queue->active == 0) {
          return say_of_campaign(failed(), left + ": run `reprise campaign resume` later");
        }
        say_of_campaign(0, left + " yet: the next try is when the queue is empty");
      }
      if (!options_.wait) {
        say_of_campaign(0,
                        "queued. `reprise campaign status` shows progress, `reprise campaign "
                        "resume` starts what failed");
        bool const all_can_start = queue->held.empty() && shards.size() == progress.missing.size();
        return all_can_start ? kExitDone : kExitFailed;
      }
      if (auto const code = wait_for_queue(); code != kExitDone) return code;
    }
    auto const progress = progress_of(folder_.plan(), folder_.facts());
    std::fputs(progress_text(progress).c_str(), stderr);
    return progress.failed_pages.empty() ? kExitDone : kExitFailed;
  }

 private:
  static int failed() {
    return Interruption::was_asked() ? Interruption::exit_code() : int{kExitFailed};
  }

  /// Without the job's own arguments.
  std::vector<std::string> sbatch_words(const std::string& name) const {
    std::vector<std::string> words{
        "--parsable",         "--requeue",
        "--open-mode=append", "--export=" + std::string(kExported),
        "--job-name=" + name, "--output=" + (folder_.path() / "logs" / "%x-%a.log").string()};
    bool const records = folder_.plan().campaign.task == CampaignFile::Task::kRecord;
    words.emplace_back(records ? "--cpus-per-task=1" : "--exclusive");
    words.insert(words.end(), options_.sbatch_options.begin(), options_.sbatch_options.end());
    return words;
  }

  std::string command(const std::string& arguments) const {
    return "exec " + quoted(program_) + " campaign " + arguments + " --plan " + folder_.digest();
  }

  bool is_checked(const std::string& node) const {
    auto const checks = folder_.node_checks();
    return std::ranges::find(checks, node, &NodeCheck::node) != checks.end();
  }

  /// The user's list of nodes for an option of sbatch; in a file, if it is a path.
  std::string node_list(std::string_view option, char letter) const {
    auto const given = sbatch_value(options_.sbatch_options, option, letter).value_or("");
    if (given.find('/') == std::string::npos) return given;
    auto const list = list_in_node_file(contents_of(given));
    return list.empty() ? given : list;  // sbatch says what is wrong with it
  }

  /// Also of ranges in brackets.
  static std::set<std::string> nodes_of(const std::string& list) {
    if (list.find('[') == std::string::npos) return names_in_list(list);
    return names_in_list(run_slurm("scontrol", {"show", "hostnames", list}).value_or(""));
  }

  /// Nothing after an error, which is printed.
  std::optional<SlurmNodes> slurm_nodes() const {
    auto const listed =
        run_slurm("sinfo", {"--noheader", "--all", "--Node", "--format=%N|%T|%P"}, is_patient_);
    if (!listed) return std::nullopt;
    auto const partitions = names_in_list(sbatch_value(options_.sbatch_options, "partition", 'p')
                                              .value_or(of_shell("SBATCH_PARTITION")));
    auto const excluded = nodes_of(node_list("exclude", 'x'));
    auto const listed_by_user = nodes_of(node_list("nodelist", 'w'));
    SlurmNodes nodes;
    for (auto const& row : slurm_table(*listed)) {
      if (row.size() < 3) continue;
      auto const& name = row[0];
      auto const& state = row[1];
      auto partition = row[2];
      bool const is_default = partition.ends_with('*');
      if (is_default) partition.pop_back();
      nodes.known.insert(name);
      bool const runs_jobs =
          state == "idle" || state == "mixed" || state == "allocated" || state == "completing";
      bool const is_in_partition = partitions.empty() ? is_default : partitions.contains(partition);
      bool const is_chosen =
          !excluded.contains(name) && (listed_by_user.empty() || listed_by_user.contains(name));
      if (runs_jobs && is_in_partition && is_chosen) nodes.usable.insert(name);
    }
    return nodes;
  }

  /// The number of the check's job; nothing if it cannot be queued.
  std::optional<std::string> queue_check(const std::string& node, const std::string& name) const {
    auto words = sbatch_words(name);
    words.insert(words.end(), {"--nodelist=" + node, "--wrap",
                               command("check " + quoted(folder_.path().string()))});
    if (auto const printed = run_slurm("sbatch", words)) return job_number(*printed);
    say_of_campaign(0,
                    "the check of node " + node + " cannot be queued: its first shard checks it");
    return std::nullopt;
  }

  /// The jobs that check these nodes, by node: new ones, and those that an earlier command queued.
  std::optional<std::map<std::string, std::string>> queue_checks(
      const std::set<std::string>& nodes) {
    auto const printed = run_slurm("squeue", {"--noheader", "--me", "--format=%j|%i"}, is_patient_);
    if (!printed) return std::nullopt;
    std::map<std::string, std::string> queued, checks;
    for (auto const& row : slurm_table(*printed)) {
      if (row.size() == 2) queued[row[0]] = row[1];
    }
    for (const std::string& node : nodes) {
      auto const name = "reprise-check-" + place_name_ + "-" + node;
      auto const known = queued.find(name);
      auto const job =
          known != queued.end() ? std::optional(known->second) : queue_check(node, name);
      if (job) {
        checks[node] = *job;
      } else {
        left_to_shards_.insert(node);
      }
    }
    return checks;
  }

  /// One check on each of these nodes, all at the same time; waits for them.
  int check_nodes(std::set<std::string> nodes) {
    std::erase_if(nodes, [&](const std::string& node) {
      return left_to_shards_.contains(node) || is_checked(node);
    });
    if (nodes.empty()) return kExitDone;
    if (has_begin_) {
      left_to_shards_.merge(nodes);
      return say_of_campaign(kExitDone,
                             "each node is checked by its first shard: --begin holds for all jobs");
    }
    say_of_campaign(0, "checking " + counted(nodes.size(), "node") + " first");
    auto open = queue_checks(nodes);
    if (!open) return failed();
    if (open->empty() && folder_.node_checks().empty()) {
      return say_of_campaign(kExitFailed, "no node can be checked: no shard is queued");
    }
    auto const ends =
        std::chrono::steady_clock::now() + std::chrono::minutes(options_.check_minutes);
    while (!open->empty() && std::chrono::steady_clock::now() < ends) {
      sleep_between_polls();
      if (Interruption::was_asked()) return Interruption::exit_code();
      std::erase_if(*open, [&](auto const& check) { return is_checked(check.first); });
    }
    for (auto const& [node, job] : *open) leave_to_shards(node, job);
    for (const RefusedNode& each : refused_nodes(folder_.node_checks())) {
      say_of_campaign(0, "node " + each.node + " is refused: " + each.why);
    }
    return kExitDone;
  }

  /// Its check took too long: one that still waits is cancelled, one that runs may end.
  void leave_to_shards(const std::string& node, const std::string& job) {
    left_to_shards_.insert(node);
    say_of_campaign(0, "node " + node + " was not checked in " +
                           counted(options_.check_minutes, "minute") +
                           ": its first shard checks it");
    if (!job.empty()) run_slurm("scancel", {"--state=PENDING", job});
  }

  /// Lets tasks start that only wait because they were put back into the queue. Nothing after an
  /// error, which is printed.
  std::optional<Queue> read_queue() const {
    auto const printed = run_slurm(
        "squeue", {"--noheader", "--array", "--me", "--format=%j|%K|%T|%r|%i"}, is_patient_);
    if (!printed) return std::nullopt;
    Rounds const rounds(folder_);
    std::map<std::size_t, std::vector<std::size_t>> lists;
    Queue queue;
    for (const QueuedTask& task : queued_tasks(*printed, job_name_)) {
      auto const [list, is_new] = lists.try_emplace(task.round);
      if (is_new) list->second = rounds.shards_of(task.round);
      auto const& shards = list->second;
      if (task.line < shards.size()) queue.shards.insert(shards[task.line]);
      if (task.is_held()) {
        ++queue.held[{task.job(), task.reason}];
        continue;
      }
      ++queue.active;
      if (task.waits_after_requeue()) {
        run_slurm("scontrol", {"update", "JobId=" + task.id, "StartTime=now"});
      }
    }
    return queue;
  }

  /// What was told before only `again`.
  void tell_held(const Queue& queue, bool again) {
    for (auto const& [place, count] : queue.held) {
      if (!told_.insert(place).second && !again) continue;
      auto const& [job, reason] = place;
      say_of_campaign(0, counted(count, "shard") + " of job " + job + " cannot start (" + reason +
                             "): `scontrol release " + job +
                             "` if held, or `scancel --state=PENDING " + job +
                             "` and then `reprise campaign resume`");
    }
  }

  /// The user's list and the refused nodes: sbatch reads only the last list that it is given. It
  /// refuses names that Slurm does not know, such as those of other engines' machines.
  std::string excluded_nodes(const std::vector<RefusedNode>& refused,
                             const std::set<std::string>& known) const {
    auto list = node_list("exclude", 'x');
    for (const RefusedNode& each : refused) {
      if (known.contains(each.node)) list += (list.empty() ? "" : ",") + each.node;
    }
    return list;
  }

  /// Array jobs of a new round; the number of shards in them. Prints errors.
  std::size_t submit(const std::vector<std::size_t>& shards, const std::string& excluded,
                     bool is_queue_empty) {
    if (shards.empty()) return 0;
    Rounds rounds(folder_);
    auto const round = rounds.add(shards);
    if (round == 0) return 0;
    for (std::size_t first = 0; first < shards.size(); first += kArrayMax) {
      auto const last = std::min(kArrayMax, shards.size() - first) - 1;
      auto words = sbatch_words(array_name(job_name_, round, first, has_begin_));
      words.push_back("--array=0-" + std::to_string(last));
      if (!excluded.empty()) words.push_back("--exclude=" + excluded);
      words.insert(words.end(),
                   {"--wrap", command("run " + quoted(folder_.path().string()) + " --list " +
                                      quoted(rounds.path(round).string()) + " --index $((" +
                                      std::to_string(first) + " + SLURM_ARRAY_TASK_ID))")});
      // sbatch has accepted the same before, and there is no other job to wait for.
      bool const is_patient = is_patient_ && has_queued_ && is_queue_empty && first == 0;
      auto const printed = run_slurm("sbatch", words, is_patient);
      if (!printed) {
        rounds.shorten(shards, first);  // the others have all their starts left
        return first;
      }
      has_queued_ = true;
      auto const job = job_number(*printed);
      say_of_campaign(0, counted(last + 1, "shard") + " queued" +
                             (job.empty() ? std::string() : " as job " + job));
    }
    return shards.size();
  }

  /// Until all tasks that are left are held.
  int wait_for_queue() {
    std::size_t tasks = 0;
    do {
      sleep_between_polls(tasks);
      if (Interruption::was_asked()) return Interruption::exit_code();
      auto const queue = read_queue();
      if (!queue) return failed();
      tell_held(*queue, false);
      tasks = queue->active;
    } while (tasks > 0);
    return kExitDone;
  }

  const CampaignFolder& folder_;
  const EngineOptions& options_;
  std::string program_;
  std::string place_name_;  ///< of the plan and the folder
  std::string job_name_;
  bool has_begin_ = false;   ///< the user gave a time at which jobs begin
  bool is_patient_ = false;  ///< Slurm has answered, and its errors may pass
  bool has_queued_ = false;
  std::set<std::string> left_to_shards_;                ///< nodes that their first shard checks
  std::set<std::pair<std::string, std::string>> told_;  ///< held tasks: job and reason
};

}  // namespace

int run_on_slurm(const CampaignFolder& folder, const EngineOptions& options) {
  return SlurmEngine(folder, options).run();
}

}  // namespace reprise
