#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <thread>

#include "base/http/digest.h"
#include "base/system/private_file.h"
#include "base/system/program.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "base/text/white_space.h"
#include "tools/campaign/engine.h"
#include "tools/campaign/sbatch_options.h"
#include "tools/commands.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// Slurm's own default for MaxArraySize is 1001.
constexpr std::size_t kArrayMax = 1000;
constexpr auto kPollTime = std::chrono::seconds(2);
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

/// The output of a command of Slurm; nothing after an error, which is printed.
std::optional<std::string> slurm(const std::string& program,
                                 const std::vector<std::string>& arguments) {
  auto const found = find_program(program);
  if (!found) {
    say_of_campaign(0, program + " is not on PATH: install slurm-client, or use --engine local");
    return std::nullopt;
  }
  auto const done = run_program(*found, arguments, std::chrono::seconds(60));
  if (done && done->exit_code == 0) return done->output;
  say_of_campaign(0, program + ": " + (done ? done->output : done.error().message()));
  return std::nullopt;
}

std::vector<std::vector<std::string>> table(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto& row = rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '|');) {
      row.emplace_back(trim_blanks(field));
    }
  }
  return rows;
}

struct SlurmNodes {
  std::set<std::string> known;   ///< all that Slurm has
  std::set<std::string> usable;  ///< those that run jobs now, and may run this campaign's
};

class SlurmEngine {
 public:
  SlurmEngine(const CampaignFolder& folder, const EngineOptions& options)
      : folder_(folder), options_(options) {
    std::error_code error;
    program_ = fs::read_symlink("/proc/self/exe", error).string();
    // Two folders can have the same plan.
    auto const place = fs::weakly_canonical(folder.path(), error).string();
    job_name_ = "reprise-" + folder.digest() + "-" + sha256_hex(place).substr(0, 8);
  }

  int run() {
    while (true) {
      auto const nodes = slurm_nodes();
      if (!nodes) return kExitFailed;
      if (auto const code = check_nodes(nodes->usable); code != kExitDone) return code;
      auto progress = progress_of(folder_.plan(), folder_.facts());
      folder_.set_aside(progress.refused);
      if (progress.missing.empty()) break;
      auto const queued = queued_shards();
      if (!queued) return kExitFailed;
      std::erase_if(progress.missing, [&](std::size_t shard) { return queued->contains(shard); });
      if (!progress.missing.empty()) {
        auto const shards = Rounds(folder_).startable(progress.missing, options_.rounds);
        if (shards.empty() && queued->empty()) return kExitFailed;
        if (!submit(shards, excluded_nodes(progress.refused, nodes->known))) return kExitFailed;
      }
      if (!options_.wait) {
        say_of_campaign(0,
                        "queued. `reprise campaign status` shows progress, `reprise campaign "
                        "resume` starts what failed");
        return kExitDone;
      }
      if (auto const code = wait_for_queue(); code != kExitDone) return code;
    }
    auto const progress = progress_of(folder_.plan(), folder_.facts());
    std::fputs(progress_text(progress).c_str(), stderr);
    return progress.failed_pages.empty() ? kExitDone : kExitFailed;
  }

 private:
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
    return names_in_list(slurm("scontrol", {"show", "hostnames", list}).value_or(""));
  }

  /// Nothing after an error, which is printed.
  std::optional<SlurmNodes> slurm_nodes() const {
    auto const listed = slurm("sinfo", {"--noheader", "--all", "--Node", "--format=%N|%T|%P"});
    if (!listed) return std::nullopt;
    auto const* const of_shell = std::getenv("SBATCH_PARTITION");
    auto const partitions = names_in_list(sbatch_value(options_.sbatch_options, "partition", 'p')
                                              .value_or(of_shell == nullptr ? "" : of_shell));
    auto const excluded = nodes_of(node_list("exclude", 'x'));
    auto const listed_by_user = nodes_of(node_list("nodelist", 'w'));
    SlurmNodes nodes;
    for (auto const& row : table(*listed)) {
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

  bool queue_check(const std::string& node) const {
    auto words = sbatch_words("reprise-check-" + folder_.digest());
    words.insert(words.end(), {"--nodelist=" + node, "--wrap",
                               command("check " + quoted(folder_.path().string()))});
    if (slurm("sbatch", words)) return true;
    say_of_campaign(0,
                    "the check of node " + node + " cannot be queued: its first shard checks it");
    return false;
  }

  /// One check on each of these nodes, all at the same time; waits for them.
  int check_nodes(std::set<std::string> open) {
    std::erase_if(open, [&](const std::string& node) { return is_checked(node); });
    if (open.empty()) return kExitDone;
    say_of_campaign(0, "checking " + counted(open.size(), "node") + " first");
    std::erase_if(open, [&](const std::string& node) { return !queue_check(node); });
    if (open.empty() && folder_.node_checks().empty()) {
      return say_of_campaign(kExitFailed, "no node can be checked: no shard is queued");
    }
    auto const ends =
        std::chrono::steady_clock::now() + std::chrono::minutes(options_.check_minutes);
    while (!open.empty() && std::chrono::steady_clock::now() < ends) {
      if (Interruption::was_asked()) return Interruption::exit_code();
      std::this_thread::sleep_for(kPollTime);
      std::erase_if(open, [&](const std::string& node) { return is_checked(node); });
    }
    for (const std::string& node : open) {
      say_of_campaign(0, "node " + node + " was not checked in " +
                             counted(options_.check_minutes, "minute") +
                             ": its first shard checks it");
    }
    for (const RefusedNode& each : refused_nodes(folder_.node_checks())) {
      say_of_campaign(0, "node " + each.node + " is refused: " + each.why);
    }
    return kExitDone;
  }

  /// The shards that wait or run. Those that wait for a time alone (a requeued task waits two
  /// minutes) are let go.
  std::optional<std::set<std::size_t>> queued_shards() {
    auto const queue =
        slurm("squeue", {"--noheader", "--array", "--me", "--format=%j|%K|%T|%r|%i"});
    if (!queue) return std::nullopt;
    Rounds const rounds(folder_);
    std::map<std::size_t, std::vector<std::size_t>> lists;
    std::set<std::size_t> out;
    for (auto const& row : table(*queue)) {
      if (row.size() < 5 || !row[0].starts_with(job_name_ + "-")) continue;
      std::size_t round = 0, index = 0;
      auto const number = row[0].substr(job_name_.size() + 1);
      std::from_chars(number.data(), number.data() + number.size(), round);
      std::from_chars(row[1].data(), row[1].data() + row[1].size(), index);
      auto const dot = number.find('.');
      std::size_t first = 0;
      if (dot != std::string::npos) {
        std::from_chars(number.data() + dot + 1, number.data() + number.size(), first);
      }
      auto const known = lists.find(round);
      auto const& shards =
          known != lists.end() ? known->second : lists[round] = rounds.shards_of(round);
      if (first + index < shards.size()) out.insert(shards[first + index]);
      if (row[2] == "PENDING" && row[3] == "BeginTime") {
        slurm("scontrol", {"update", "JobId=" + row[4], "StartTime=now"});
      }
    }
    return out;
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

  /// Array jobs of a new round; their names are reprise-PLAN-FOLDER-ROUND.FIRST.
  bool submit(const std::vector<std::size_t>& shards, const std::string& excluded) {
    if (shards.empty()) return true;
    Rounds rounds(folder_);
    auto const round = rounds.add(shards);
    if (round == 0) return false;
    for (std::size_t first = 0; first < shards.size(); first += kArrayMax) {
      auto const last = std::min(kArrayMax, shards.size() - first) - 1;
      auto words =
          sbatch_words(job_name_ + "-" + std::to_string(round) + "." + std::to_string(first));
      words.push_back("--array=0-" + std::to_string(last));
      if (!excluded.empty()) words.push_back("--exclude=" + excluded);
      words.insert(words.end(),
                   {"--wrap", command("run " + quoted(folder_.path().string()) + " --list " +
                                      quoted(rounds.path(round).string()) + " --index $((" +
                                      std::to_string(first) + " + SLURM_ARRAY_TASK_ID))")});
      auto const job = slurm("sbatch", words);
      if (!job) {
        rounds.shorten(shards, first);  // the others have all their starts left
        return false;
      }
      say_of_campaign(0, counted(last + 1, "shard") + " queued as job " +
                             std::string(trim_blanks(job->substr(0, job->find_first_of(";\n")))));
    }
    return true;
  }

  int wait_for_queue() {
    while (true) {
      if (Interruption::was_asked()) return Interruption::exit_code();
      std::this_thread::sleep_for(kPollTime);
      auto const queued = queued_shards();
      if (!queued) return kExitFailed;
      if (queued->empty()) return kExitDone;
    }
  }

  const CampaignFolder& folder_;
  const EngineOptions& options_;
  std::string program_;
  std::string job_name_;
};

}  // namespace

int run_on_slurm(const CampaignFolder& folder, const EngineOptions& options) {
  return SlurmEngine(folder, options).run();
}

}  // namespace reprise
