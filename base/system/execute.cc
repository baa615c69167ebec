#include "base/system/execute.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace reprise {
namespace {

class IgnoredInterrupts {
 public:
  IgnoredInterrupts() : int_(std::signal(SIGINT, SIG_IGN)), quit_(std::signal(SIGQUIT, SIG_IGN)) {}
  ~IgnoredInterrupts() { restore(); }
  IgnoredInterrupts(const IgnoredInterrupts&) = delete;
  IgnoredInterrupts& operator=(const IgnoredInterrupts&) = delete;

  void restore() const {
    std::signal(SIGINT, int_);
    std::signal(SIGQUIT, quit_);
  }

 private:
  void (*int_)(int);
  void (*quit_)(int);
};

}  // namespace

int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::vector<char*> argument_pointers(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (auto const& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool end_with_parent(pid_t parent, int signal) {
  ::prctl(PR_SET_PDEATHSIG, signal);
  return ::getppid() == parent;  // otherwise it ended before the setting took effect
}

std::string launch_text(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment) {
  std::string text;
  for (const std::string& entry : environment) text.append(entry.c_str()).push_back('\0');
  text.push_back('\0');
  for (const std::string& argument : arguments) text.append(argument.c_str()).push_back('\0');
  return text;
}

void execute(std::string launch_text) {
  std::size_t at = 0;
  auto const next = [&] {
    char* const word = launch_text.data() + at;
    at += std::strlen(word) + 1;
    return word;
  };
  for (char* entry = next(); *entry != '\0'; entry = next()) ::putenv(entry);
  std::vector<char*> arguments;
  while (at < launch_text.size()) arguments.push_back(next());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  std::fprintf(stderr, "reprise: cannot run %s: %s\n", arguments.front(), std::strerror(errno));
  ::_exit(kNotRun);
}

std::expected<int, std::string> run_in_foreground(const std::string& program,
                                                  const std::vector<std::string>& arguments) {
  auto all = arguments;
  all.insert(all.begin(), program);
  auto const pointers = argument_pointers(all);
  IgnoredInterrupts const ignored;
  auto const parent = ::getpid();
  auto const child = ::fork();
  if (child < 0) return std::unexpected(program + " cannot be started: " + strerror(errno));
  if (child == 0) {
    ignored.restore();
    if (end_with_parent(parent, SIGTERM)) ::execv(program.c_str(), pointers.data());
    ::_exit(kNotRun);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_code_of(status);
}

}  // namespace reprise
