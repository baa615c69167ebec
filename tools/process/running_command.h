#pragma once

#include <string>
#include <vector>

namespace reprise {

/// The `-- COMMAND` that runs beside a server, in whatever surroundings: made ready before there
/// are threads, then told what to run.
class RunningCommand {
 public:
  virtual ~RunningCommand() = default;

  /// Runs `arguments`, found on PATH. Once. One that cannot be run says so on stderr and exits with
  /// 127. Returns what went wrong here, empty for nothing.
  virtual std::string start(const std::vector<std::string>& arguments) = 0;

  /// The exit code, once it has ended; 128 + N when signal N ended it. Does not block.
  virtual bool poll(int& exit_code) = 0;
  /// Readable when poll() has news; -1 where SIGCHLD tells.
  virtual int event_fd() const { return -1; }
  /// No effect once poll() has seen the end. What a terminal types to this process reaches the
  /// command without it (has_terminal()).
  virtual void signal(int number) = 0;
};

}  // namespace reprise
