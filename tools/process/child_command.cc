#include "tools/process/child_command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/system/execute.h"
#include "base/system/last_error.h"
#include "tools/process/process_signals.h"

namespace reprise {
namespace {

/// In the child: reads a launch text up to the end of the pipe, and executes it. The command ends
/// when its parent does, for any reason.
[[noreturn]] void wait_and_exec(int orders, pid_t parent, bool own_group) {
  if (own_group) ::setpgid(0, 0);
  if (!end_with_parent(parent, SIGTERM)) ::_exit(0);
  restore_signal_mask();
  std::string text;
  char buffer[4096];
  while (true) {
    auto const count = ::read(orders, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  if (text.empty()) ::_exit(0);  // never started
  execute(std::move(text));
}

}  // namespace

Result<ChildCommand> ChildCommand::prepare() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(last_system_error());
  auto const parent = ::getpid();
  bool const own_group = !has_terminal();
  auto const child = ::fork();
  if (child < 0) {
    auto const error = last_system_error();
    ::close(ends[0]);
    ::close(ends[1]);
    return fail(error);
  }
  if (child == 0) {
    ::close(ends[1]);
    wait_and_exec(ends[0], parent, own_group);
  }
  if (own_group) ::setpgid(child, child);  // in both processes, whichever is first
  ::close(ends[0]);
  return ChildCommand(child, own_group, ends[1]);
}

ChildCommand::ChildCommand(ChildCommand&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      own_group_(other.own_group_),
      orders_(std::exchange(other.orders_, -1)) {}

ChildCommand::~ChildCommand() {
  if (orders_ >= 0) ::close(orders_);
}

std::string ChildCommand::start(const std::vector<std::string>& arguments,
                                const std::vector<std::string>& environment) {
  auto const text = launch_text(arguments, environment);
  for (std::string_view rest = text; !rest.empty();) {
    auto const count = ::write(orders_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return last_system_error().message();
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  ::close(std::exchange(orders_, -1));
  return {};
}

bool ChildCommand::poll(int& exit_code) {
  int status = 0;
  if (child_ < 0 || ::waitpid(child_, &status, WNOHANG) != child_) return false;
  child_ = -1;  // from here on the number may be another process's
  exit_code = exit_code_of(status);
  return true;
}

void ChildCommand::signal(int number) {
  if (child_ > 0) ::kill(own_group_ ? -child_ : child_, number);
}

}  // namespace reprise
