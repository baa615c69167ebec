#include "tools/signal_events.h"

#include <pthread.h>
#include <unistd.h>

namespace reprise {
namespace {

sigset_t wanted_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int const number : {SIGINT, SIGTERM, SIGCHLD}) ::sigaddset(&signals, number);
  struct sigaction hang_up{};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) ::sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

SignalEvents::SignalEvents(boost::asio::io_context& context)
    : signals_(wanted_signals()),
      descriptor_(context, ::signalfd(-1, &signals_, SFD_NONBLOCK | SFD_CLOEXEC)) {
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
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

void SignalEvents::let_go() {
  descriptor_.close();
  for (int const number : {SIGINT, SIGTERM, SIGHUP}) {
    if (::sigismember(&signals_, number) == 1) ::signal(number, SIG_DFL);
  }
  ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

}  // namespace reprise
