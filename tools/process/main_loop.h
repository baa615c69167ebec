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

/// The main thread's work while a server runs: waits for signals and for the command, and shows
/// progress.
class MainLoop {
 public:
  /// Other work of this thread can use `context`, too; run() runs it.
  explicit MainLoop(net::io_context& context);

  /// Runs until the command has ended, or without one until a signal or stop(). SIGINT and SIGTERM
  /// are passed on to the command; a second one ends the process at once. `child` can be null; the
  /// caller owns it. `progress` returns a line for stderr: called often on a terminal, otherwise
  /// printed on change. Returns the command's exit code, or that of stop().
  int run(RunningCommand* child, const std::function<std::string()>& progress);

  /// For the time after run(), while everything ends: a first signal requests what already happens,
  /// a second one ends the process at once.
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
