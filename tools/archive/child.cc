#include "tools/archive/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
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

std::expected<int, std::string> run_in_foreground(const std::string& program,
                                                  const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (auto const& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  IgnoredInterrupts const ignored;
  auto const parent = ::getpid();
  auto const child = ::fork();
  if (child < 0) return std::unexpected(program + " cannot be started: " + strerror(errno));
  if (child == 0) {
    ignored.restore();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);  // it ended before that counted
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace reprise
