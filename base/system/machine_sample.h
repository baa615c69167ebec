#pragma once

// What the kernel says about the machine and about this program's processes, without any right.
// Two samples say what the machine did between them.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace reprise {

/// Counters since some time in the past; only differences mean anything. A value that this kernel
/// does not provide is nullopt.
struct MachineSample {
  using Time = std::chrono::nanoseconds;

  Time monotonic{0};  ///< CLOCK_MONOTONIC, which stands still while the machine sleeps
  Time boot{0};       ///< CLOCK_BOOTTIME, which does not
  Time wall{0};       ///< CLOCK_REALTIME

  unsigned processors = 1;         ///< online, and permitted to this process
  Time busy{0};                    ///< processor time of all programs and the kernel, on these
  std::optional<Time> steal;       ///< in which one of these would have run, had the host let it
  std::optional<Time> throttled;   ///< by the quotas of this process's groups, on each processor
  std::optional<double> quota;     ///< the smallest of them, in processors
  std::optional<Time> quota_busy;  ///< processor time of the group that has it
  /// In which some task waited for it (PSI, Documentation/accounting/psi.rst).
  std::optional<Time> cpu_pressure, io_pressure, memory_pressure;
  std::optional<double> frequency_mhz;  ///< now, mean over the processors

  // Of the processes that descend from the given one, and itself:
  Time own_busy{0};     ///< of those that have ended, too, where their parent has waited for them
  Time own_waiting{0};  ///< in which their threads could run, and another one did (schedstat)
  std::uint64_t own_major_faults = 0;  ///< pages that were read from disk
  bool own_stopped = false;            ///< one is stopped now (SIGSTOP)
  /// Of this process, as far as it counts against others: neither beyond its session's
  /// (autogroup), nor outside its control group. If that group's time on these processors alone is
  /// unknown, it counts against none: 0 at least.
  int own_nice = 0;
  /// Processor time of that control group. Nothing: own_nice counts against all programs, or none.
  std::optional<Time> group_busy;

  /// Takes some milliseconds. `root` is a number of /proc; 0: this process. The folders are for
  /// tests.
  static MachineSample take(pid_t root = 0, const std::filesystem::path& proc = "/proc",
                            const std::filesystem::path& sys = "/sys");
};

/// Whether a process that descends from this one is stopped now. Takes a tenth of a millisecond or
/// so: it looks at no other processes. False where the kernel does not list children.
bool is_descendant_stopped(const std::filesystem::path& proc = "/proc");

/// The processor time of all processes that descend from this one, where the kernel lists children;
/// else 0. As quick as is_descendant_stopped().
MachineSample::Time descendants_busy(const std::filesystem::path& proc = "/proc");

/// The processor time of one process, without its children; 0 where it cannot be read. `process` is
/// a number of /proc.
MachineSample::Time processor_time_of(pid_t process, const std::filesystem::path& proc = "/proc");

/// How long an idle processor of a virtual machine watches for work before it halts: Linux's
/// cpuidle driver haltpoll. Nothing without it.
std::optional<std::chrono::nanoseconds> halt_poll_time(const std::filesystem::path& sys = "/sys");

/// What the machine did between two samples. Times in ms.
struct MachineActivity {
  double span_ms = 0;
  unsigned processors = 1;  ///< that the measured processes can use
  double busy_ms = 0;       ///< of everybody, on these
  double own_ms = 0;        ///< of the measured processes
  /// Their nice value, as far as it counts against others; see favour_process().
  int own_nice = 0;
  std::optional<double> steal_ms, throttled_ms;
  std::optional<double> cpu_pressure_ms, io_pressure_ms, memory_pressure_ms;
  std::optional<double> frequency_mhz;
  double own_waiting_ms = 0;
  double own_major_faults = 0;
  double suspended_ms = 0;   ///< the machine slept
  double clock_step_ms = 0;  ///< by which the wall clock was set; negative: back
  bool stopped = false;      ///< a measured process was seen stopped
  double paused_ms = 0;      ///< in which none of the measured processes, and not this one, ran
  double began_ms = 0;       ///< by CLOCK_MONOTONIC; 0: unknown

  /// Of the control group within which alone own_nice counts. Nothing: it counts against all.
  std::optional<double> group_ms;
  /// The smallest quota of the control groups, in processors, and what its group used.
  std::optional<double> quota, quota_ms;
};

MachineActivity activity_between(const MachineSample& before, const MachineSample& after);

}  // namespace reprise
