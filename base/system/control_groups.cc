#include "base/system/control_groups.h"

#include <sstream>
#include <string>

#include "base/system/kernel_file.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using Time = ControlGroups::Time;

/// "cpu.max" of version 2: "200000 100000", or "max 100000". Two files of version 1: 200000 or -1,
/// and 100000.
std::optional<double> quota_of(const fs::path& group) {
  auto numbers = numbers_in(kernel_text(group / "cpu.max"));
  if (numbers.empty()) {
    numbers = numbers_in(kernel_text(group / "cpu.cfs_quota_us") + " " +
                         kernel_text(group / "cpu.cfs_period_us"));
  }
  bool const has_quota = numbers.size() == 2 && numbers[0] > 0 && numbers[1] > 0;
  if (!has_quota) return std::nullopt;
  return static_cast<double>(numbers[0]) / static_cast<double>(numbers[1]);
}

/// The first number after `name` in `text`.
std::optional<std::uint64_t> number_after(const std::string& text, const char* name) {
  auto const line = line_after(text, name);
  auto const numbers = numbers_in(line.value_or(""));
  return numbers.empty() ? std::nullopt : std::optional(numbers[0]);
}

/// Version 1 has it where the controllers cpu and cpuacct are mounted together.
std::optional<Time> busy_of(const fs::path& group, const std::string& stat) {
  auto const micro = number_after(stat, "usage_usec ");
  if (micro) return std::chrono::microseconds(*micro);
  auto const nano = number_after(kernel_text(group / "cpuacct.usage"), "");
  return nano ? std::optional(Time(static_cast<Time::rep>(*nano))) : std::nullopt;
}

/// The root of a hierarchy has none; that of version 1 has the file, and one that only a root has.
bool has_weight(const fs::path& group) {
  std::error_code error;
  return fs::exists(group / "cpu.weight", error) ||
         (fs::exists(group / "cpu.shares", error) &&
          !fs::exists(group / "cgroup.sane_behavior", error));
}

/// The processors of `group` or, where it has none of its own, of the nearest one above.
std::string processors_of(const fs::path& root, fs::path group) {
  for (;; group = group.parent_path()) {
    for (auto const* const name : {"cpuset.cpus.effective", "cpuset.effective_cpus"}) {
      auto list = kernel_text(root / group.relative_path() / name);
      if (!list.empty()) return list;
    }
    if (!group.has_relative_path()) return {};
  }
}

void add_group(const fs::path& group, ControlGroups& out) {
  auto const stat = kernel_text(group / "cpu.stat");
  auto const micro = number_after(stat, "throttled_usec ");
  auto const nano = number_after(stat, "throttled_time ");
  if (micro) out.throttled = out.throttled.value_or(Time(0)) + std::chrono::microseconds(*micro);
  if (nano) out.throttled = out.throttled.value_or(Time(0)) + Time(static_cast<Time::rep>(*nano));
  auto const quota = quota_of(group);
  if (quota && (!out.quota || *quota < *out.quota)) {
    out.quota = quota;
    out.quota_busy = busy_of(group, stat);
  }
  if (!out.is_weighed && has_weight(group)) {
    out.is_weighed = true;
    out.weighed_busy = busy_of(group, stat);
  }
}

}  // namespace

ControlGroups ControlGroups::read(const fs::path& proc, const fs::path& sys) {
  ControlGroups out;
  std::istringstream lines(kernel_text(proc / "self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    auto const controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    bool const unified = controllers == ",,";
    fs::path group(line.substr(second + 1));
    if (controllers.find(",cpuset,") != std::string::npos) {
      out.weighed_processors = processors_of(sys / "fs/cgroup/cpuset", group);
    }
    if (!unified && controllers.find(",cpu,") == std::string::npos) continue;
    auto const root = unified ? sys / "fs/cgroup" : sys / "fs/cgroup/cpu";
    for (;; group = group.parent_path()) {
      bool const was_weighed = out.is_weighed;
      add_group(root / group.relative_path(), out);
      if (unified && out.is_weighed && !was_weighed) {
        out.weighed_processors = processors_of(root, group);
      }
      if (!group.has_relative_path()) break;
    }
  }
  return out;
}

}  // namespace reprise
