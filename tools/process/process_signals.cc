#include "tools/process/process_signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <system_error>

#include "base/invariant.h"

namespace reprise {
namespace {

// Written once, before any thread.
sigset_t mask_at_start;
sigset_t blocked;

bool is_ignored(int number) {
  struct sigaction action{};
  ::sigaction(number, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

void block_signals() {
  std::error_code no_proc;  // a bare chroot
  std::filesystem::directory_iterator const threads("/proc/self/task", no_proc);
  invariant(no_proc || std::distance(begin(threads), end(threads)) == 1,
            "signals are blocked before the first thread is made");
  ::sigemptyset(&blocked);
  for (int const number : {SIGINT, SIGTERM, SIGCHLD}) ::sigaddset(&blocked, number);
  if (!is_ignored(SIGHUP)) ::sigaddset(&blocked, SIGHUP);
  // The kernel reaps the children of a process that ignores it: their exit codes would be lost.
  ::signal(SIGCHLD, SIG_DFL);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_at_start);
  // Not ignored: commands would inherit that.
  if (!is_ignored(SIGXFSZ)) ::signal(SIGXFSZ, [](int) {});
}

const sigset_t& blocked_signals() {
  return blocked;
}

void restore_signal_mask() {
  ::pthread_sigmask(SIG_SETMASK, &mask_at_start, nullptr);
}

const sigset_t& signal_mask_at_start() {
  return mask_at_start;
}

bool has_terminal() {
  int const terminal = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

std::optional<int> waiting_signal() {
  sigset_t waiting;
  if (::sigpending(&waiting) != 0) return std::nullopt;
  for (int const number : {SIGINT, SIGTERM, SIGHUP}) {
    if (::sigismember(&waiting, number) == 1) return number;
  }
  return std::nullopt;
}

}  // namespace reprise
