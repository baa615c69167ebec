#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

namespace reprise {

/// The signals that block_signals() has blocked, as events of an event loop, with who sent them
/// (signalfd(2)).
class SignalEvents {
 public:
  explicit SignalEvents(boost::asio::io_context& context);

  /// Calls `handle` on the loop for each that comes, as long as the loop runs. Call once.
  void listen(std::function<void(const signalfd_siginfo&)> handle);

  /// No more events: signals wait again.
  void close() { descriptor_.close(); }

 private:
  void await_next();

  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void(const signalfd_siginfo&)> handle_;
};

}  // namespace reprise
