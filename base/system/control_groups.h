#pragma once

// What this process's control groups (cgroups(7), versions 1 and 2) say of its processors, without
// any right.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace reprise {

/// Of the groups from this process's up, as far as they are visible. Counters since some time in
/// the past; nothing where no group has such a counter.
struct ControlGroups {
  using Time = std::chrono::nanoseconds;

  std::optional<Time> throttled;   ///< by their quotas, the sum over processors and groups
  std::optional<double> quota;     ///< the smallest one, in processors
  std::optional<Time> quota_busy;  ///< processor time of all processes in the group that has it
  /// The kernel weighs a group of this process against other groups: nice values count inside only.
  bool is_weighed = false;
  std::optional<Time> weighed_busy;  ///< processor time of all processes in that group
  /// On which they may run, "0,2-3"; empty where the kernel does not tell.
  std::string weighed_processors;

  /// The folders are for tests.
  static ControlGroups read(const std::filesystem::path& proc = "/proc",
                            const std::filesystem::path& sys = "/sys");
};

}  // namespace reprise
