#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/process/running_command.h"

namespace reprise {

/// The `-- COMMAND` that runs beside a server. The process is forked before there are threads and
/// before a replay blocks its own access to the network; it waits for its command line.
class ChildCommand final : public RunningCommand {
 public:
  /// Forks. Errors: fork(2)'s, pipe(2)'s.
  static Result<ChildCommand> prepare();
  ChildCommand(ChildCommand&& other) noexcept;
  ChildCommand& operator=(ChildCommand&&) = delete;
  /// Ends a child that was never started.
  ~ChildCommand() override;

  /// Executes `arguments` in the waiting process.
  std::string start(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment) override;
  bool poll(int& exit_code) override;
  void signal(int number) override;

 private:
  ChildCommand(pid_t child, bool own_group, int orders)
      : child_(child), own_group_(own_group), orders_(orders) {}
  pid_t child_ = -1;
  bool own_group_ = false;
  int orders_ = -1;  // write end; the child reads its arguments from the other
};

}  // namespace reprise
