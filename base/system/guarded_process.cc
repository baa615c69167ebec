#include "base/system/guarded_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/system/execute.h"
#include "base/system/last_error.h"
#include "base/system/thread_priority.h"

extern char** environ;

namespace reprise {
namespace {

constexpr char kTerminate = 'T';

/// Everything the guard needs, prepared before fork(2): afterwards other threads' locks are in an
/// unknown state, and only async-signal-safe calls are permitted.
struct Plan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* error_file = nullptr;  ///< null: inherited
  const char* folder = nullptr;      ///< null: none
  int input = -1;
  int output = -1;
  int control = -1;     ///< read end: kTerminate, or EOF when the owner has ended
  int status = -1;      ///< write end: pid, then wait status
  int exec_error = -1;  ///< write end, closed by a successful execve(2)
  bool favoured = false;
};

void write_int(int fd, int value) {
  // An empty socket takes the whole value. If it fails, there is no one left to tell.
  [[maybe_unused]] auto const sent = ::send(fd, &value, sizeof value, MSG_NOSIGNAL);
}

/// Blocks until an int arrives. nullopt at end of file.
std::optional<int> read_int(int fd) {
  int value = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd, &value, sizeof value);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof value)) return std::nullopt;
  return value;
}

template <std::size_t N>
void close_all_except(std::array<int, N> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned first = 3;
  for (int const fd : keep) {
    if (fd < static_cast<int>(first)) continue;
    if (static_cast<unsigned>(fd) > first) ::close_range(first, static_cast<unsigned>(fd) - 1, 0);
    first = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(first, ~0U, 0);
}

void default_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
}

[[noreturn]] void become_program(const Plan& plan, pid_t guard_pid) {
  if (plan.favoured) {
    // The kernel weighs sessions against each other (sched(7), autogroup): so this one needs its
    // own, and what it starts must stay in it, or the weight is lost.
    ::setsid();
    static_cast<void>(favour_process());
  } else {
    ::setpgid(0, 0);
  }
  if (!end_with_parent(guard_pid, SIGKILL)) ::_exit(kNotRun);
  default_signals();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  auto const give_up = [&plan] {
    write_int(plan.exec_error, errno);
    ::_exit(kNotRun);
  };
  int const null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || ::dup2(null, 0) < 0 || ::dup2(null, 1) < 0) give_up();
  if (plan.error_file != nullptr) {
    int const log = ::open(plan.error_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || ::dup2(log, 2) < 0) give_up();
  }
  // Any of them may be 3 or 4 now: move them out of the way first.
  int const report = ::fcntl(plan.exec_error, F_DUPFD_CLOEXEC, 10);
  if (plan.input >= 0) {
    int const input = ::fcntl(plan.input, F_DUPFD_CLOEXEC, 10);
    int const output = ::fcntl(plan.output, F_DUPFD_CLOEXEC, 10);
    if (input < 0 || output < 0 || ::dup2(input, 3) < 0 || ::dup2(output, 4) < 0) give_up();
    ::close_range(5, ~0U, CLOSE_RANGE_CLOEXEC);
  } else {
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  }
  ::execve(plan.program, plan.argv, plan.envp);
  write_int(report, errno);
  ::_exit(kNotRun);
}

/// Kills all descendants of the guard. Those whose parent died have become the guard's own children
/// (it is the subreaper), so this ends when no child is left.
void end_descendants() {
  for (;;) {
    char list[4096];
    int const fd = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t const size = fd < 0 ? 0 : ::read(fd, list, sizeof list - 1);
    if (fd >= 0) ::close(fd);
    bool killed = false;
    pid_t pid = 0;
    // Only numbers followed by a blank: the last one in a full buffer may be cut off.
    for (ssize_t i = 0; i < size; ++i) {
      if (list[i] >= '0' && list[i] <= '9') {
        pid = pid * 10 + (list[i] - '0');
      } else if (pid > 0) {
        killed = ::kill(pid, SIGKILL) == 0 || killed;
        pid = 0;
      }
    }
    pid_t const reaped = ::waitpid(-1, nullptr, killed ? 0 : WNOHANG);
    if (reaped == 0 || (reaped < 0 && errno != EINTR)) return;
  }
}

void remove_folder(const char* folder) {
  pid_t const child = ::fork();
  if (child == 0) {
    char name[] = "rm";
    char options[] = "-rf";
    char end[] = "--";
    char* const argv[] = {name, options, end, const_cast<char*>(folder), nullptr};
    ::execv("/bin/rm", argv);
    ::_exit(kNotRun);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

/// Reaps ended processes. Returns true, with the status, if the program was among them.
bool reap(pid_t program, int& status) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
      return false;
    }
    bool const ours = info.si_pid == program;
    // Until the program is reaped, its number cannot be another group's.
    if (ours) ::kill(-program, SIGKILL);
    int ended = 0;
    ::waitpid(info.si_pid, &ended, 0);
    if (ours) {
      status = ended;
      return true;
    }
  }
}

void on_child_signal(int) {}

[[noreturn]] void guard(const Plan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "reprise-guard");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  default_signals();
  // The guard ends after its owner: a signal to all processes must not end it first.
  for (int const number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  struct sigaction action{};
  action.sa_handler = on_child_signal;
  ::sigaction(SIGCHLD, &action, nullptr);
  close_all_except(std::array{plan.control, plan.status, plan.exec_error, plan.input, plan.output});

  pid_t const guard_pid = ::getpid();
  pid_t const program = ::fork();
  if (program == 0) become_program(plan, guard_pid);
  write_int(plan.status, program < 0 ? -errno : program);
  close_all_except(std::array{plan.control, plan.status});

  bool running = program > 0;
  sigset_t none;
  ::sigemptyset(&none);
  for (;;) {
    int status = 0;
    if (running && reap(program, status)) {
      running = false;
      end_descendants();
      write_int(plan.status, status);
    }
    struct pollfd watched{.fd = plan.control, .events = POLLIN, .revents = 0};
    if (::ppoll(&watched, 1, nullptr, &none) <= 0) continue;
    char command = 0;
    ssize_t const got = ::read(plan.control, &command, 1);
    if (got == 1 && command == kTerminate && running) ::kill(program, SIGTERM);
    if (got == 0) break;
  }
  if (running) ::kill(-program, SIGKILL);
  end_descendants();
  if (plan.folder != nullptr) remove_folder(plan.folder);
  ::_exit(0);
}

struct PipeEnds {
  Descriptor read;
  Descriptor write;
};

/// A socket pair: unlike a pipe it can be written to without SIGPIPE.
Result<PipeEnds> make_pipe() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return fail({errno, std::system_category()});
  }
  return PipeEnds{Descriptor(fds[0]), Descriptor(fds[1])};
}

/// Removes the folder if there was no guard to do it.
struct FolderRemover {
  std::filesystem::path folder;
  ~FolderRemover() {
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  }
};

}  // namespace

Result<std::unique_ptr<GuardedProcess>> GuardedProcess::start(const Options& options) {
  FolderRemover unguarded{options.folder};
  auto control = make_pipe();
  auto status = make_pipe();
  auto exec_error = make_pipe();
  for (auto const* made : {&control, &status, &exec_error}) {
    if (!*made) return fail(made->error());
  }
  std::vector<std::string> arguments{options.program.string()};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  auto const& environment = options.environment;
  auto const argv = argument_pointers(arguments);
  auto const envp = argument_pointers(environment);
  Plan const plan{
      .program = options.program.c_str(),
      .argv = argv.data(),
      .envp = envp.data(),
      .error_file = options.error_file.empty() ? nullptr : options.error_file.c_str(),
      .folder = options.folder.empty() ? nullptr : options.folder.c_str(),
      .input = options.input_fd,
      .output = options.output_fd,
      .control = control->read.get(),
      .status = status->write.get(),
      .exec_error = exec_error->write.get(),
      .favoured = options.favoured,
  };

  // Handlers of this process must not run in the guard before it has reset them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t const guard_pid = ::fork();
  if (guard_pid == 0) guard(plan);
  int const fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (guard_pid < 0) return fail({fork_error, std::system_category()});
  unguarded.folder.clear();

  control->read = {};
  status->write = {};
  exec_error->write = {};
  std::unique_ptr<GuardedProcess> process(new GuardedProcess(
      guard_pid, std::move(control->write), std::move(status->read), options.folder));
  auto const program = read_int(process->status_.get());
  if (!program) return fail(std::make_error_code(std::errc::broken_pipe));
  if (*program < 0) return fail({-*program, std::system_category()});
  process->pid_ = *program;
  if (auto const error = read_int(exec_error->read.get())) {
    return fail({*error, std::system_category()});
  }
  return process;
}

GuardedProcess::GuardedProcess(pid_t guard, Descriptor control, Descriptor status,
                               std::filesystem::path folder)
    : guard_(guard),
      control_(std::move(control)),
      status_(std::move(status)),
      folder_(std::move(folder)) {}

GuardedProcess::~GuardedProcess() {
  control_ = {};
  // The guard holds the other end until it exits, whoever reaps it.
  while (read_int(status_.get())) {
  }
  while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
  // Something is left only if the guard was killed.
  FolderRemover const unguarded{folder_};
}

void GuardedProcess::terminate() {
  [[maybe_unused]] auto const sent = ::send(control_.get(), &kTerminate, 1, MSG_NOSIGNAL);
}

std::optional<int> GuardedProcess::wait_until(TimePoint deadline) {
  while (!ended_) {
    auto const left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    struct pollfd watched{.fd = status_.get(), .events = POLLIN, .revents = 0};
    int const ready =
        ::poll(&watched, 1, static_cast<int>(std::clamp<long>(left.count(), 0, 60'000)));
    if (ready > 0) {
      // A killed guard took the program with it (PR_SET_PDEATHSIG).
      ended_ = read_int(status_.get()).value_or(SIGKILL);
    } else if (std::chrono::steady_clock::now() >= deadline) {
      return std::nullopt;
    }
  }
  return ended_;
}

std::optional<int> GuardedProcess::wait_until(TimePoint deadline, const std::function<bool()>& stop,
                                              std::chrono::milliseconds interval) {
  for (;;) {
    auto const now = std::chrono::steady_clock::now();
    if (auto const status = wait_until(std::min(deadline, now + interval))) return status;
    if (stop() || now >= deadline) return std::nullopt;
  }
}

std::string describe_wait_status(int status) {
  if (WIFEXITED(status)) return "ended with exit status " + std::to_string(WEXITSTATUS(status));
  int const number = WTERMSIG(status);
  return "was ended by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> out = changes;
  auto const name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    bool const replaced = std::any_of(changes.begin(), changes.end(), [&](const std::string& c) {
      return name_of(c) == name_of(*entry);
    });
    if (!replaced) out.emplace_back(*entry);
  }
  return out;
}

}  // namespace reprise
