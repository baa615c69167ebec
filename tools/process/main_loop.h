#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>

#include "tools/commands.h"
#include "tools/process/interruption.h"
#include "tools/process/running_command.h"
#include "tools/process/signal_events.h"

namespace reprise {

namespace net = boost::asio;

/// What the main thread does while a server runs: it waits for signals and for the command, and
/// shows progress.
class MainLoop {
 public:
  /// What else belongs onto this thread may wait in `context`, too, which run() runs.
  explicit MainLoop(net::io_context& context);

  /// Until the command has ended, or without one until a signal or stop(); SIGINT and SIGTERM are
  /// passed on to the command, and a second one ends the process at once. `child` may be null, and
  /// is the caller's. `progress` gives a line for stderr: often on a terminal, else when it
  /// changes. Returns the command's exit code, or what stop() said.
  int run(RunningCommand* child, const std::function<std::string()>& progress);

  /// After run(), while everything ends: a first signal asks for what happens already, a second one
  /// ends the process at once.
  void end_on_second_signal();

  /// Ends run(), and the command with it. Any thread.
  void stop(int exit_code);

 private:
  void on_signal(const signalfd_siginfo& signal);
  void look_at_child();
  void await_child_event();
  void tick();

  net::io_context& context_;
  SignalEvents signals_;
  std::optional<Interruption> ending_;
  net::steady_timer ticker_;
  net::steady_timer patience_;
  net::posix::stream_descriptor child_events_;
  RunningCommand* child_ = nullptr;
  const std::function<std::string()>* progress_ = nullptr;
  bool live_ = false;
  bool signalled_ = false;
  bool stopping_ = false;
  std::string last_line_;
  int exit_code_ = kExitDone;
};

}  // namespace reprise
