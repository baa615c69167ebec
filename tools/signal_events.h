#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

namespace reprise {

/// SIGINT, SIGTERM, SIGHUP and SIGCHLD as events of an event loop, with who sent them
/// (signalfd(2)). They are blocked in the thread that makes this, and in those that it makes from
/// then on. A SIGHUP that was ignored before, as under nohup(1), stays ignored.
class SignalEvents {
 public:
  explicit SignalEvents(boost::asio::io_context& context);

  /// Calls `handle` on the loop for each that comes, as long as the loop runs. Call once.
  void listen(std::function<void(const signalfd_siginfo&)> handle);

  /// From here on each does to this process what it does by default. No more events.
  void let_go();

 private:
  void await_next();

  sigset_t signals_;
  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void(const signalfd_siginfo&)> handle_;
};

}  // namespace reprise
