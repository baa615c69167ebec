#pragma once

// What the commands of Slurm print. Pure.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// A row for each line: the fields between '|', without blanks at their ends.
std::vector<std::vector<std::string>> slurm_table(const std::string& text);

/// The number of the job that `sbatch --parsable` queued, which also prints warnings. Empty if
/// there is no such line.
std::string job_number(const std::string& printed);

/// The name of an array job: JOBS-ROUND.FIRST, and .begin if the user gave it a time to begin at.
std::string array_name(const std::string& jobs, std::size_t round, std::size_t first,
                       bool has_begin);

/// One task of an array job that array_name() named.
struct QueuedTask {
  std::size_t round = 0;  ///< its list of shards
  std::size_t line = 0;   ///< its shard's in that list, from 0
  std::string id;         ///< JOB_TASK
  std::string state;      ///< "PENDING", "RUNNING", ...
  std::string reason;     ///< why it waits
  bool has_begin = false;

  std::string job() const { return id.substr(0, id.find('_')); }
  /// Whether it never starts unless its user or an administrator does something.
  bool is_held() const;
  /// Whether it waits only because it was put back into the queue: two minutes.
  bool waits_after_requeue() const;
};

/// What `squeue --noheader --array --format=%j|%K|%T|%r|%i` prints of the array jobs of `jobs`.
std::vector<QueuedTask> queued_tasks(const std::string& printed, const std::string& jobs);

}  // namespace reprise
