#pragma once

#include <string>
#include <vector>

namespace reprise {

/// The `-- COMMAND` that runs beside a server, in any environment: prepared before there are
/// threads, then given its command line.
class RunningCommand {
 public:
  virtual ~RunningCommand() = default;

  /// Runs `arguments`, found on PATH, with `environment` (NAME=VALUE) added to this process's own.
  /// Call it once. If the command cannot be run, an error is printed on stderr and the exit code is
  /// 127. Returns an error of this process as a sentence; empty on success.
  virtual std::string start(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment) = 0;

  /// The exit code once the command has ended; 128 + N if signal N ended it. Does not block.
  virtual bool poll(int& exit_code) = 0;
  /// Readable when poll() should be called; -1 if SIGCHLD signals that.
  virtual int event_fd() const { return -1; }
  /// No effect once poll() has returned true. Signals typed on the terminal reach the command
  /// without it (has_terminal()).
  virtual void signal(int number) = 0;
};

}  // namespace reprise
