#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "shaper/packet/network/network.h"

namespace reprise {

/// A command in a network of its own, whose only way out is a link in this process's hands.
///
/// start() forks one process, which makes the namespaces and devices (topology.h), hands the
/// sockets over and becomes pid 1 of the command's pid namespace. This process stays where it is:
/// it moves the packets (LinkRunner), serves the listeners and dials outside. The listeners are
/// sockets of the server's namespace: what is accepted from them has crossed the link, and
/// getsockname(2) tells the address and port that the client asked for.
///
/// When this process ends, however it does, the command and all that it started are killed; when
/// the command ends, what it left behind is. Not thread-safe.
class PacketShell {
 public:
  /// Before this process has threads. Takes an ordinary user with user namespaces, or root.
  /// Errors: what the system lacks or refuses, and what to do about it.
  static ShellResult<PacketShell> start(const PacketShellOptions& options);
  PacketShell(PacketShell&& other) noexcept;
  PacketShell& operator=(PacketShell&&) = delete;
  /// Kills the command if it still runs, and takes the network down.
  ~PacketShell();

  /// The sockets; they are non-blocking. Whoever needs one for itself moves it out.
  BuiltNetwork& network() { return network_; }

  /// Runs `arguments`, found on PATH, in the caller's folder and environment, with its terminal and
  /// ids and without capabilities (root keeps CAP_SETFCAP; ping(8) may have CAP_NET_RAW). Once. A
  /// command that cannot be run says so on stderr and exits with 127. Errors: broken_pipe when the
  /// shell is gone.
  ShellResult<void> run(const std::vector<std::string>& arguments);

  /// Readable when poll() has news.
  int event_fd() const { return control_.get(); }
  /// The exit code once the command has ended: 128 + N when signal N ended it, 137 when the shell
  /// was killed. Does not block.
  bool poll(int& exit_code);
  /// To the command, if it runs.
  void signal(int number);
  /// The process that is pid 1 to the command.
  pid_t init_pid() const { return init_; }

 private:
  PacketShell(Descriptor control, pid_t init) : control_(std::move(control)), init_(init) {}

  Descriptor control_;
  pid_t init_ = -1;
  BuiltNetwork network_;
};

}  // namespace reprise
