#pragma once

// The steps shared by all starts of another program. Those for a forked child are
// async-signal-safe, except for their message.

#include <sys/types.h>

#include <expected>
#include <string>
#include <vector>

namespace reprise {

/// The exit code of a command that cannot be run, as in shells.
inline constexpr int kNotRun = 127;

/// The exit status, or 128 + N if signal N ended it. `wait_status`: as returned by waitpid(2).
int exit_code_of(int wait_status);

/// For execve(2): pointers into `arguments`, followed by a null pointer.
std::vector<char*> argument_pointers(const std::vector<std::string>& arguments);

/// In a child just forked by `parent`: makes the kernel send it `signal` when the parent ends.
/// False if the parent has already ended.
bool end_with_parent(pid_t parent, int signal);

/// What execute() takes: `environment` (NAME=VALUE, never empty), an empty word, then `arguments`,
/// each followed by a NUL.
std::string launch_text(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment);

/// In a child: adds the environment in `launch_text` to its own and executes the program, found on
/// PATH. If it cannot be run, prints the reason on standard error and exits with kNotRun.
[[noreturn]] void execute(std::string launch_text);

/// Runs a program that takes over the terminal, and waits for it: meanwhile terminal input,
/// including SIGINT, goes to the program. It gets SIGTERM if this process ends first. Returns its
/// exit_code_of(); the error says why it did not start. `program` is a path.
std::expected<int, std::string> run_in_foreground(const std::string& program,
                                                  const std::vector<std::string>& arguments);

}  // namespace reprise
