#include "shaper/packet/packet_shell.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "base/system/execute.h"
#include "shaper/packet/network/control_channel.h"
#include "shaper/packet/network/init_process.h"

namespace reprise {
namespace {

constexpr int kKilled = 128 + SIGKILL;
constexpr unsigned long kOwn = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID;

/// The first number in a file of /proc; `otherwise` if it does not exist.
long setting(const char* path, long otherwise) {
  std::ifstream file(path);
  long value = otherwise;
  return file >> value ? value : otherwise;
}

bool filters_system_calls() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Seccomp:")) return line.find('2') != std::string::npos;
  }
  return false;
}

/// Root's command loses nearly all capabilities, too (init_process.cc).
constexpr const char* kAsRoot = "run as root (the command then cannot switch to another user)";

/// Why namespaces are refused, as far as the system shows it, and the remedy.
std::string way_to_namespaces() {
  auto const or_as_root = std::string(", or ") + kAsRoot;
  if (setting("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0) {
    return "sudo sysctl kernel.unprivileged_userns_clone=1" + or_as_root;
  }
  if (setting("/proc/sys/user/max_user_namespaces", 1) == 0) {
    return "sudo sysctl user.max_user_namespaces=10000" + or_as_root;
  }
  if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) != 0) {
    return "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0" + or_as_root;
  }
  if (filters_system_calls()) {
    return "the container's seccomp filter forbids them: use docker run --security-opt "
           "seccomp=unconfined or --privileged";
  }
  return std::string(kAsRoot) +
         ", or use a kernel with CONFIG_USER_NS, CONFIG_NET_NS and CONFIG_PID_NS";
}

/// As fork(2), into new namespaces.
pid_t fork_into(unsigned long flags) {
  return static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0));
}

ShellError to_error(const ControlMessage& failed) {
  auto const first = failed.text.find('\0');
  auto const second = failed.text.find('\0', first + 1);
  ShellError error{.what = failed.text.substr(0, first)};
  if (second == std::string::npos) return error;
  error.fix = failed.text.substr(first + 1, second - first - 1);
  int code = 0;
  std::from_chars(failed.text.data() + second + 1, failed.text.data() + failed.text.size(), code);
  error.code = {code, std::system_category()};
  if (error.fix.empty() && (code == EPERM || code == EACCES)) error.fix = way_to_namespaces();
  return error;
}

/// False if the message is not one of init.
bool take_network(ControlMessage& message, BuiltNetwork& network) {
  Descriptor* const places[] = {
      &network.client_namespace, &network.server_namespace, &network.client_packets,
      &network.server_packets,   &network.client_netlink,   &network.server_netlink,
      &network.link_netlink,     &network.client_probe,     &network.server_probe};
  if (message.kind != ControlKind::built || message.descriptors.size() < std::size(places)) {
    return false;
  }
  auto next = message.descriptors.begin();
  for (Descriptor* const place : places) *place = std::move(*next++);
  for (; next != message.descriptors.end(); ++next) network.listeners.push_back(std::move(*next));
  std::istringstream numbers(message.text);
  numbers >> network.client_index >> network.server_index >> network.client_near_index >>
      network.server_near_index >> network.all_tcp_ports;
  return !numbers.fail();
}

}  // namespace

ShellResult<PacketShell> PacketShell::start(const PacketShellOptions& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return shell_failure("a socket pair cannot be made");
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  InitStart begin{
      .control = theirs.get(), .own_user_namespace = false, .uid = ::geteuid(), .gid = ::getegid()};
  // Root needs no user namespace, and may be in a place where none can be created.
  pid_t init = begin.uid == 0 ? fork_into(kOwn) : -1;
  if (init < 0) {
    begin.own_user_namespace = true;
    init = fork_into(kOwn | CLONE_NEWUSER);
  }
  if (init < 0) {
    int const error = errno;  // way_to_namespaces() changes it
    return shell_failure("cannot create user and network namespaces", way_to_namespaces(), error);
  }
  if (init == 0) {
    ours.reset();
    run_init(begin, options);
  }
  theirs.reset();
  PacketShell shell(std::move(ours), init);
  auto told = receive_control(shell.control_.get());
  if (!told) return shell_failure("the process of the packet shell ended", {}, ECHILD);
  if (told->kind == ControlKind::failed) return std::unexpected(to_error(*told));
  if (!take_network(*told, shell.network_)) {
    return shell_failure("unexpected answer from the process of the packet shell", {}, EPROTO);
  }
  return shell;
}

PacketShell::PacketShell(PacketShell&& other) noexcept
    : control_(std::move(other.control_)),
      init_(std::exchange(other.init_, -1)),
      network_(std::move(other.network_)) {}

PacketShell::~PacketShell() {
  if (init_ < 0) return;
  ::kill(init_, SIGKILL);
  while (::waitpid(init_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

ShellResult<void> PacketShell::run(const std::vector<std::string>& arguments,
                                   const std::vector<std::string>& environment) {
  auto const text = launch_text(arguments, environment);
  if (!send_control(control_.get(), ControlKind::run, text)) {
    return shell_failure("the process of the packet shell has ended", {}, EPIPE);
  }
  return {};
}

bool PacketShell::poll(int& exit_code) {
  pollfd waited{.fd = control_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&waited, 1, 0) <= 0) return false;
  auto const told = receive_control(control_.get());
  exit_code = kKilled;
  if (told && told->kind == ControlKind::ended) {
    std::from_chars(told->text.data(), told->text.data() + told->text.size(), exit_code);
  }
  return true;
}

void PacketShell::signal(int number) {
  send_control(control_.get(), ControlKind::signal, std::string(1, static_cast<char>(number)));
}

}  // namespace reprise
