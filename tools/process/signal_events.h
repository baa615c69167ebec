#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

namespace reprise {

/// The signals that block_signals() has blocked, as events of an event loop, with their senders
/// (signalfd(2)).
class SignalEvents {
 public:
  explicit SignalEvents(boost::asio::io_context& context);

  /// Calls `handle` on the loop for each signal, as long as the loop runs. Call it once.
  void listen(std::function<void(const signalfd_siginfo&)> handle);

  /// Ends the events: signals stay pending again.
  void close() { descriptor_.close(); }

 private:
  void await_next();

  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void(const signalfd_siginfo&)> handle_;
};

}  // namespace reprise
