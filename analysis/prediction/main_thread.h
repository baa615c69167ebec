#pragma once

// The main thread in one observed load: when it worked, and what of this it ran on a processor.
// Pure.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/calls/call.h"

namespace reprise {

class MainThread {
 public:
  /// Reads the tasks of a load. Without any, nothing is known of the thread.
  explicit MainThread(const CallTree& calls);

  bool is_known() const { return !work_.empty(); }

  /// Of the time from `from_us` until `to_us`, in us: how long it worked, and for how long it had a
  /// processor. A thread of which nothing is known worked all the time.
  struct Work {
    double busy_us = 0;
    double processor_us = 0;  ///< the rest of `busy_us` it waited: for a processor, disk or process
  };
  Work work_between(std::int64_t from_us, std::int64_t to_us) const;

  /// Since when it had worked at `from_us`, if it went on until `to_us`; nothing if it paused.
  std::optional<std::int64_t> busy_since(std::int64_t from_us, std::int64_t to_us) const;

  struct Interval {
    std::int64_t start_us = 0;
    std::int64_t end_us = 0;
    double processor_us = 0;
  };
  /// When it worked, by time. They do not overlap.
  const std::vector<Interval>& work() const { return work_; }

  /// One of its tasks. What runs in a task is not interrupted by another one.
  struct Task {
    std::int64_t start_us = 0;
    std::int64_t end_us = 0;
    bool lays_out = false;
  };
  /// By time.
  const std::vector<Task>& tasks() const { return tasks_; }
  /// The one that ran at that time; null if none did.
  const Task* task_at(std::int64_t at_us) const;
  /// When the last document was parsed, of those whose parsing began before that time; 0 if none
  /// did.
  std::int64_t parsed_us(std::int64_t before_us) const;

 private:
  Work work_until(std::int64_t at_us) const;

  std::vector<Interval> work_;
  std::vector<Work> before_;  ///< of each interval, what came before it
  std::vector<Task> tasks_;
  std::vector<Task> parsing_;  ///< inside of tasks
};

}  // namespace reprise
