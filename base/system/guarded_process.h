#pragma once

// A child process that cannot outlive this one, and leaves nothing on disk.
//
// Between this process and the program is a guard: a forked copy of this process that makes only
// system calls. It is the reaper of everything that the program starts (even outside the program's
// process group), and it holds one end of a pipe whose other end only this process has. When that
// pipe closes, by the destructor or by `kill -9` of this process, the guard kills all of them,
// removes the folder and ends.

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/system/descriptor.h"

namespace reprise {

/// One program under guard. Blocking; one thread. Starting is safe in a process with threads.
class GuardedProcess {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Options {
    std::filesystem::path program;         ///< absolute; it is not looked up on PATH
    std::vector<std::string> arguments;    ///< without the program's own name
    std::vector<std::string> environment;  ///< NAME=VALUE, the whole environment
    int input_fd = -1;      ///< becomes descriptor 3 of the program; borrowed until start() returns
    int output_fd = -1;     ///< becomes descriptor 4; both or neither are given
    bool favoured = false;  ///< put before other programs, where permitted: favour_process()
    std::filesystem::path error_file;  ///< standard error is appended to it; empty: inherited
    /// A private folder, removed with its contents at the end. start() takes ownership, even on
    /// failure. Empty: none.
    std::filesystem::path folder;
  };

  /// Errors: the system error of fork(2) or execve(2).
  static Result<std::unique_ptr<GuardedProcess>> start(const Options& options);

  /// Kills all processes that still run; returns once they have ended and the folder is removed.
  ~GuardedProcess();
  GuardedProcess(const GuardedProcess&) = delete;
  GuardedProcess& operator=(const GuardedProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// Sends the program SIGTERM. Does nothing if it has ended.
  void terminate();

  /// The program's status as from waitpid(2), once it has ended; nullopt if it still runs at
  /// `deadline`. By then all processes that it started have ended, too.
  std::optional<int> wait_until(TimePoint deadline);
  /// The same; nullopt also once `stop()` is true, which is asked at this interval.
  std::optional<int> wait_until(
      TimePoint deadline, const std::function<bool()>& stop,
      std::chrono::milliseconds interval = std::chrono::milliseconds(200));

  /// Readable once wait_until() would not wait; for poll(2).
  int ended_fd() const { return status_.get(); }

 private:
  GuardedProcess(pid_t guard, Descriptor control, Descriptor status, std::filesystem::path folder);
  pid_t guard_;
  pid_t pid_ = -1;
  Descriptor control_;
  Descriptor status_;
  std::filesystem::path folder_;
  std::optional<int> ended_;
};

/// "ended with exit status 1", "was ended by signal 11 (Segmentation fault)".
std::string describe_wait_status(int status);

/// This process's environment as NAME=VALUE, with the variables in `changes` replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

}  // namespace reprise
