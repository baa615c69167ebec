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

  unsigned processors = 1;    ///< online
  Time busy{0};               ///< processor time of all programs and the kernel, on all processors
  std::optional<Time> steal;  ///< in which a processor would have run, had the host let it
  std::optional<Time> throttled;  ///< by the processor quota of this process's control groups
  /// In which some task waited for it (PSI, Documentation/accounting/psi.rst).
  std::optional<Time> cpu_pressure, io_pressure, memory_pressure;
  std::optional<double> frequency_mhz;  ///< now, mean over the processors

  // Of the processes that descend from the given one, and itself:
  Time own_busy{0};     ///< of those that have ended, too, where their parent has waited for them
  Time own_waiting{0};  ///< in which their threads could run, and another one did (schedstat)
  std::uint64_t own_major_faults = 0;  ///< pages that were read from disk
  bool own_stopped = false;            ///< one is stopped now (SIGSTOP)
  int own_nice = 0;                    ///< of this process

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

/// How long an idle processor of a virtual machine watches for work before it halts: Linux's
/// cpuidle driver haltpoll. Nothing without it.
std::optional<std::chrono::nanoseconds> halt_poll_time(const std::filesystem::path& sys = "/sys");

/// What the machine did between two samples. Times in ms.
struct MachineActivity {
  double span_ms = 0;
  unsigned processors = 1;
  double busy_ms = 0;  ///< of everybody, on all processors
  double own_ms = 0;   ///< of the measured processes
  int own_nice = 0;    ///< their nice value; see favour_process()
  std::optional<double> steal_ms, throttled_ms;
  std::optional<double> cpu_pressure_ms, io_pressure_ms, memory_pressure_ms;
  std::optional<double> frequency_mhz;
  double own_waiting_ms = 0;
  double own_major_faults = 0;
  double suspended_ms = 0;   ///< the machine slept
  double clock_step_ms = 0;  ///< by which the wall clock was set; negative: back
  bool stopped = false;      ///< a measured process was seen stopped

  /// Of the processors' time, 0 to 1: what programs took that were not measured.
  double others_share() const;
};

MachineActivity activity_between(const MachineSample& before, const MachineSample& after);

}  // namespace reprise
