#include "shaper/packet/network/init_process.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/system/execute.h"
#include "shaper/packet/network/control_channel.h"
#include "shaper/packet/network/network.h"
#include "shaper/packet/network/private_files.h"

namespace reprise {
namespace {

ShellResult<void> map_ids(const InitStart& start) {
  if (!start.own_user_namespace) return {};
  auto const map = [](unsigned id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
  for (auto const& [path, text] : {std::pair("/proc/self/setgroups", std::string("deny")),
                                   std::pair("/proc/self/uid_map", map(start.uid)),
                                   std::pair("/proc/self/gid_map", map(start.gid))}) {
    if (auto const written = write_setting(path, text); !written) return written;
  }
  return {};
}

/// Permanent: also for programs executed as root from here on. A program whose file requests an
/// unavailable capability is not executed at all (capabilities(7)): ping(8) requests CAP_NET_RAW,
/// which reaches only this network. Root keeps CAP_SETFCAP, without which it cannot be root in a
/// user namespace of its own (user_namespaces(7)), as Firefox's sandbox needs.
bool drop_capabilities() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (capability == CAP_NET_RAW) continue;
    if (capability == CAP_SETFCAP && ::getuid() == 0) continue;
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return false;
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct const none[2]{};
  return ::syscall(SYS_capset, &header, none) == 0;
}

[[noreturn]] void become(std::string text, const sigset_t& signals, bool own_group) {
  if (own_group) ::setpgid(0, 0);
  if (!drop_capabilities()) {
    std::fprintf(stderr, "reprise: capabilities cannot be dropped: %s\n", std::strerror(errno));
    ::_exit(kNotRun);
  }
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  execute(std::move(text));
}

/// Runs one command.
class Init {
 public:
  Init(int control, const PacketShellOptions& options)
      : control_(control), own_group_(options.own_group) {
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, &command_signals_);
    if (options.command_signals) command_signals_ = *options.command_signals;
    children_ = Descriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  [[noreturn]] void run() {
    while (true) {
      pollfd waited[2]{{.fd = control_, .events = POLLIN, .revents = 0},
                       {.fd = children_.get(), .events = POLLIN, .revents = 0}};
      if (::poll(waited, 2, -1) < 0 && errno != EINTR) ::_exit(kNotRun);
      if (waited[1].revents != 0) reap();
      if (waited[0].revents != 0) obey();
    }
  }

 private:
  void obey() {
    auto order = receive_control(control_);
    if (!order) ::_exit(0);  // the caller is gone
    if (order->kind == ControlKind::run && command_ < 0 && !order->text.empty()) {
      command_ = ::fork();
      if (command_ == 0) become(std::move(order->text), command_signals_, own_group_);
      if (command_ < 0) end(kNotRun);
      if (own_group_) ::setpgid(command_, command_);  // in both processes, whichever is first
    } else if (order->kind == ControlKind::signal && command_ > 0 && order->text.size() == 1) {
      ::kill(own_group_ ? -command_ : command_, order->text.front());
    }
  }

  void reap() {
    signalfd_siginfo ignored;
    while (::read(children_.get(), &ignored, sizeof ignored) > 0) {
    }
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == command_) end(exit_code_of(status));
    }
  }

  [[noreturn]] void end(int exit_code) {
    send_control(control_, ControlKind::ended, std::to_string(exit_code));
    ::_exit(0);
  }

  int control_;
  Descriptor children_;
  bool own_group_;
  sigset_t command_signals_;
  pid_t command_ = -1;
};

ShellResult<BuiltNetwork> build(const InitStart& start, const PacketShellOptions& options) {
  if (auto const mapped = map_ids(start); !mapped) return std::unexpected(mapped.error());
  if (auto const mounts = make_mounts_private(); !mounts) return std::unexpected(mounts.error());
  if (auto const done = mount_resolver_settings(options.resolver_settings); !done) {
    return std::unexpected(done.error());
  }
  return build_network(options);
}

bool tell(int control, const BuiltNetwork& network) {
  std::vector<int> descriptors;
  for (const Descriptor* const one :
       {&network.client_namespace, &network.server_namespace, &network.client_packets,
        &network.server_packets, &network.client_netlink, &network.server_netlink,
        &network.link_netlink, &network.client_probe, &network.server_probe}) {
    descriptors.push_back(one->get());
  }
  for (const Descriptor& listener : network.listeners) descriptors.push_back(listener.get());
  std::string numbers;
  for (int const number : {network.client_index, network.server_index, network.client_near_index,
                           network.server_near_index, static_cast<int>(network.all_tcp_ports)}) {
    numbers += std::to_string(number) + " ";
  }
  return send_control(control, ControlKind::built, numbers, descriptors);
}

}  // namespace

void run_init(const InitStart& start, const PacketShellOptions& options) {
  // The kernel ends this process when the caller ends; if the caller has already ended, the channel
  // is at its end.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  {
    auto network = build(start, options);
    // The change of namespaces may have cleared it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!network) {
      send_control(start.control, ControlKind::failed,
                   network.error().what + '\0' + network.error().fix + '\0' +
                       std::to_string(network.error().code.value()));
      ::_exit(kNotRun);
    }
    if (!tell(start.control, *network)) ::_exit(kNotRun);
  }
  Init(start.control, options).run();
}

}  // namespace reprise
