#include "tools/process/signal_events.h"

#include <unistd.h>

#include "base/invariant.h"
#include "tools/process/process_signals.h"

namespace reprise {

SignalEvents::SignalEvents(boost::asio::io_context& context)
    : descriptor_(context, ::signalfd(-1, &blocked_signals(), SFD_NONBLOCK | SFD_CLOEXEC)) {
  invariant(::sigismember(&blocked_signals(), SIGCHLD) == 1, "main() has blocked the signals");
}

void SignalEvents::listen(std::function<void(const signalfd_siginfo&)> handle) {
  handle_ = std::move(handle);
  await_next();
}

void SignalEvents::await_next() {
  descriptor_.async_wait(descriptor_.wait_read, [this](boost::system::error_code error) {
    if (error) return;
    signalfd_siginfo signal{};
    auto const count = ::read(descriptor_.native_handle(), &signal, sizeof signal);
    if (count == sizeof signal) handle_(signal);
    await_next();
  });
}

}  // namespace reprise
