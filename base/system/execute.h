#pragma once

// The steps that every start of another program has in common. Those for a forked child are
// async-signal-safe but for their message.

#include <sys/types.h>

#include <expected>
#include <string>
#include <vector>

namespace reprise {

/// The exit code of a command that cannot be run, as shells have it.
inline constexpr int kNotRun = 127;

/// The exit status, or 128 + N when signal N ended it. `wait_status` as waitpid(2) gives it.
int exit_code_of(int wait_status);

/// For execve(2): pointers into `arguments`, ended by a null pointer.
std::vector<char*> argument_pointers(const std::vector<std::string>& arguments);

/// In a child just forked by `parent`: it is sent `signal` when its parent ends. False when that
/// has ended already.
bool end_with_parent(pid_t parent, int signal);

/// In a child: becomes the program called words[0], found on PATH, each word ended by NUL. Exits
/// with kNotRun, and says why on standard error, when that cannot be run.
[[noreturn]] void execute(std::string words);

/// Runs a program that takes over the terminal, and waits for it: what is typed there, SIGINT
/// included, is meant for it meanwhile. It is sent SIGTERM should this process end first. Returns
/// its exit_code_of(); the error says why it did not start. `program` is a path.
std::expected<int, std::string> run_in_foreground(const std::string& program,
                                                  const std::vector<std::string>& arguments);

}  // namespace reprise
