#include "tools/campaign/slurm_queue.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/text/white_space.h"

namespace reprise {
namespace {

/// Besides those that are called held.
constexpr std::array<std::string_view, 3> kHeldReasons{"JobHoldMaxRequeue", "BadConstraints",
                                                       "DependencyNeverSatisfied"};

/// Removes the number at the beginning of `text`. Returns false if no number is there, or if it is
/// too large.
bool take_number(std::string_view& text, std::size_t& number) {
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::vector<std::vector<std::string>> slurm_table(const std::string& text) {
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

std::string job_number(const std::string& printed) {
  std::string found;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    auto const number = std::string(trim(line.substr(0, line.find(';'))));  // then the cluster
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) {
      found = number;
    }
  }
  return found;
}

std::string array_name(const std::string& jobs, std::size_t round, std::size_t first,
                       bool has_begin) {
  return jobs + "-" + std::to_string(round) + "." + std::to_string(first) +
         (has_begin ? ".begin" : "");
}

bool QueuedTask::is_held() const {
  if (state == "REQUEUE_HOLD" || state == "SPECIAL_EXIT") return true;
  if (state != "PENDING") return false;
  // JobHeldUser, JobHeldAdmin, launch failed requeued held, job_requeued_in_held_state
  return reason.starts_with("JobHeld") || reason.find("held") != std::string::npos ||
         std::ranges::find(kHeldReasons, std::string_view(reason)) != kHeldReasons.end();
}

bool QueuedTask::waits_after_requeue() const {
  return state == "PENDING" && reason == "BeginTime" && !has_begin;
}

std::vector<QueuedTask> queued_tasks(const std::string& printed, const std::string& jobs) {
  std::vector<QueuedTask> tasks;
  for (auto& row : slurm_table(printed)) {
    if (row.size() < 5 || !row[0].starts_with(jobs + "-")) continue;
    auto name = std::string_view(row[0]).substr(jobs.size() + 1);
    std::string_view index = row[1];
    QueuedTask task;
    std::size_t first = 0;
    if (!take_number(name, task.round) || !name.starts_with('.')) continue;
    name.remove_prefix(1);
    if (!take_number(name, first) || !take_number(index, task.line)) continue;
    task.line += first;
    task.has_begin = name == ".begin";
    task.state = std::move(row[2]);
    task.reason = std::move(row[3]);
    task.id = std::move(row[4]);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace reprise
