#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "shaper/packet/network/network.h"

namespace reprise {

/// Runs a command in a separate network, whose only way out is a link driven by this process.
///
/// start() forks one process, which creates the namespaces and devices (topology.h), passes the
/// sockets to this process and becomes pid 1 of the command's pid namespace. This process stays in
/// its namespaces: it moves the packets (LinkRunner), serves the listeners and dials outside. The
/// listeners are sockets of the server's namespace: connections accepted from them have crossed the
/// link, and getsockname(2) returns the address and port that the client requested.
///
/// When this process ends, in any way, the command and all its children are killed; when the
/// command ends, its remaining children are. Not thread-safe.
class PacketShell {
 public:
  /// Call it before this process has threads. Works for an ordinary user with user namespaces, or
  /// root. Errors: what the system lacks or refuses, and the remedy.
  static ShellResult<PacketShell> start(const PacketShellOptions& options);
  PacketShell(PacketShell&& other) noexcept;
  PacketShell& operator=(PacketShell&&) = delete;
  /// Kills the command if it still runs, and removes the network.
  ~PacketShell();

  /// The sockets, all non-blocking. A user of one moves it out.
  BuiltNetwork& network() { return network_; }

  /// Runs `arguments`, found on PATH, in the caller's folder and environment, to which
  /// `environment` (NAME=VALUE) is added, with its terminal and ids and without capabilities (root
  /// keeps CAP_SETFCAP; ping(8) may have CAP_NET_RAW). Call it once. If the command cannot be run,
  /// prints an error on stderr, and the exit code is 127. Errors: broken_pipe if the shell is gone.
  ShellResult<void> run(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment = {});

  /// Readable when poll() should be called.
  int event_fd() const { return control_.get(); }
  /// The exit code once the command has ended: 128 + N if signal N ended it, 137 if the shell was
  /// killed. Does not block.
  bool poll(int& exit_code);
  /// Signals the command, if it runs.
  void signal(int number);

 private:
  PacketShell(Descriptor control, pid_t init) : control_(std::move(control)), init_(init) {}

  Descriptor control_;
  pid_t init_ = -1;
  BuiltNetwork network_;
};

}  // namespace reprise
